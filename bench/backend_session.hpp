// The backend's end of one connection: serves and checks as wire.hpp says.
#pragma once

#include <array>
#include <optional>

#include "bench/pattern.hpp"
#include "bench/served.hpp"
#include "bench/stream.hpp"
#include "bench/wire.hpp"

namespace culvert::load {

class backend_session {
  public:
    // With `fixed` the connection brings no request and gets no verdict.
    // `counts` grow with every byte.
    backend_session(std::unique_ptr<stream> wire, std::optional<kind> fixed, served& counts)
        : wire_(std::move(wire)), fixed_(fixed), counts_(counts) {}

    // Serves to the end. Throws `failure` when the connection is cut, or asks for nothing known.
    awaitable<void> run();

    // What a verdict at this moment says.
    [[nodiscard]] verdict judge() const noexcept;

  private:
    awaitable<void> read_request();
    awaitable<void> serve();
    awaitable<void> echo();
    awaitable<void> sink();
    awaitable<void> source();
    awaitable<void> reply();

    awaitable<bytes_view> receive();
    awaitable<bool> receive_exactly(std::uint64_t size);
    awaitable<void> write(bytes_view data);
    awaitable<void> send(std::uint64_t size);
    awaitable<void> send_until_end();
    awaitable<void> await_end();

    std::unique_ptr<stream> wire_;
    const std::optional<kind> fixed_;
    served& counts_;
    request request_;
    bytes_view rest_;  // came, and is still to be served
    std::optional<checker> incoming_;
    std::uint64_t received_ = 0;
    std::uint64_t sent_ = 0;
    bool client_ended_ = false;
};

}  // namespace culvert::load
