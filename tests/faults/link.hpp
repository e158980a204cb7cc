// One connection of the tunnel through the faulty network: two sockets, a path in each direction.
#pragma once

#include <optional>

#include "tests/faults/mangler.hpp"
#include "tests/faults/net.hpp"
#include "tests/faults/random_script.hpp"

namespace culvert::faults {

// A socket of the link. A RST is told once, to a reader or to a writer: whoever hears it notes it.
struct link_side {
    tcp_socket socket;
    bool was_reset = false;
};

class link;

// One direction.
class path {
  public:
    path(link& whole, link_side& from, link_side& to, const path_script& plan, std::uint64_t seed);

    // Until its source has ended.
    awaitable<void> run();

    [[nodiscard]] const mangler& what_was_done() const noexcept { return mangler_; }
    [[nodiscard]] const path_script& plan() const noexcept { return plan_; }
    // From now on everything is swallowed.
    void swallow() noexcept { swallowing_ = true; }

  private:
    awaitable<error_code> await_input();
    awaitable<void> pass_on(crypto::bytes_view piece);
    awaitable<void> write(crypto::bytes_view all);
    void source_ended();
    void source_failed();
    void meet_end();
    [[nodiscard]] bool dark() const noexcept;
    std::size_t next_segment(std::size_t left);

    link& whole_;
    link_side& from_;
    link_side& to_;
    const path_script plan_;
    mangler mangler_;
    random_numbers random_;
    timer pause_;
    std::vector<std::uint8_t> memory_;
    std::vector<std::uint8_t> out_;
    bool swallowing_ = false;
};

class link {
  public:
    // `client` and `server` are the connections to the two daemons. up() and down() are to run.
    link(tcp_socket client, tcp_socket server, const script& what, std::uint64_t seed);

    path& up() noexcept { return up_; }
    path& down() noexcept { return down_; }
    [[nodiscard]] const path& up() const noexcept { return up_; }
    [[nodiscard]] const path& down() const noexcept { return down_; }

    // A FIN to both ends; nothing passes any more.
    void cut();
    // A RST to both ends.
    void reset() noexcept;

    // Whether the paths have done more than to slow the bytes down.
    [[nodiscard]] bool harmed() const noexcept;

  private:
    link_side client_;
    link_side server_;
    path up_;
    path down_;
};

}  // namespace culvert::faults
