// Why a text was refused, in words for whoever wrote it.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>

namespace culvert::config {

struct reason {
    std::string text;  // says what was wrong and what is accepted; never holds a key
};

// Where T is a string, a value is made with in_place_value: a string might be meant as a reason.
template <class T>
using result = boost::system::result<T, reason>;

// What result::value() throws when there is none; caught where a line of the file is judged.
struct refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[noreturn]] inline void throw_exception_from_error(const reason& why,
                                                    const boost::source_location& /*where*/) {
    throw refused(why.text);
}

}  // namespace culvert::config
