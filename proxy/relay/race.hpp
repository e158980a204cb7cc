// Several addresses of one name, tried in the manner of RFC 8305: the first to answer wins.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <optional>
#include <vector>

#include "proxy/relay/attempt.hpp"

namespace culvert::relay {

// In their order, but with the families taking turns (RFC 8305, section 4).
[[nodiscard]] std::vector<stream_endpoint> interleaved(
    const std::vector<carrier::asio::ip::address>& addresses, std::uint16_t port);

// The next address is tried when all before it have failed, or have had 250 ms. Those that lose are
// closed at once: a server sees at most a connection that ends before its first byte.
class race : public std::enable_shared_from_this<race> {
  public:
    static constexpr std::chrono::milliseconds head_start{250};

    // `addresses` is not empty.
    race(const carrier::executor& ex, std::vector<stream_endpoint> addresses, closing how)
        : executor_(ex), addresses_(std::move(addresses)), how_(how), wake_(ex) {}

    struct result {
        carrier::error_code ec;  // the last failure; operation_aborted after stop()
        std::optional<attempt> winner;
    };
    // Once.
    carrier::awaitable<result> run();
    void stop();

  private:
    void start_next();
    void ended(attempt& which, carrier::error_code ec);
    result finish();

    const carrier::executor executor_;
    const std::vector<stream_endpoint> addresses_;
    const closing how_;
    carrier::timer wake_;
    std::vector<std::unique_ptr<attempt>> attempts_;
    attempt* winner_ = nullptr;
    std::size_t waiting_ = 0;  // attempts that have not been decided
    carrier::time_point next_at_{};
    carrier::error_code ec_;
    bool stopped_ = false;
};

}  // namespace culvert::relay
