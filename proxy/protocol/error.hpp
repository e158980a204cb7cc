// Everything that ends a handshake or a record stream, one enum with its category.
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace culvert::protocol {

enum class error {
    none = 0,
    // Handshake, before message 2: the peer sees silence (PROTOCOL.md section 6).
    bad_box,         // a tag is wrong: wrong key, or not a culvert peer at all
    bad_field,       // reserved bytes that are not zero, or a pad length over 1023
    clock_skew,      // right key, but the clocks are too far apart
    replay,          // this first message was seen before
    unknown_client,  // right server key, but the client is not in the list
    weak_key,        // a Diffie-Hellman result of all zero
    // Records: a reset to the peer and to the service.
    record_too_long,
    record_tag,
    record_type,
    record_flag,
    record_order,
    record_length,
    record_counter,
    service_name,  // a byte that no service name may hold
    truncated,     // the carrier ended before END did
};

enum class condition {
    handshake = 1,  // failed before there was a session
    record,         // a record that may not be: tampered with, or a broken peer
};

const boost::system::error_category& error_category() noexcept;
const boost::system::error_category& condition_category() noexcept;

inline boost::system::error_code make_error_code(error e) noexcept {
    return {static_cast<int>(e), error_category()};
}
inline boost::system::error_condition make_error_condition(condition c) noexcept {
    return {static_cast<int>(c), condition_category()};
}

template <class T>
using result = boost::system::result<T>;

}  // namespace culvert::protocol

template <>
struct boost::system::is_error_code_enum<culvert::protocol::error> : std::true_type {};
template <>
struct boost::system::is_error_condition_enum<culvert::protocol::condition> : std::true_type {};
