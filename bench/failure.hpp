// What ends a connection early: thrown through its coroutine, caught once, counted.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace culvert::load {

enum class failure_kind : std::uint8_t {
    connection,  // no stream came about
    integrity,   // a stream came about, and was cut, or something else arrived than was sent
};

class failure : public std::runtime_error {
  public:
    failure(failure_kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
    [[nodiscard]] failure_kind kind() const noexcept { return kind_; }

  private:
    failure_kind kind_;
};

[[noreturn]] inline void fail_connection(const std::string& what) {
    throw failure(failure_kind::connection, what);
}
[[noreturn]] inline void fail_integrity(const std::string& what) {
    throw failure(failure_kind::integrity, what);
}

}  // namespace culvert::load
