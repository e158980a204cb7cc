// One of the two applications: writes its stream and checks the other's, as its script says.
#pragma once

#include "bench/pattern.hpp"
#include "tests/faults/judge.hpp"
#include "tests/faults/net.hpp"
#include "tests/faults/random_script.hpp"

namespace culvert::faults {

class application {
  public:
    // The streams are the patterns of these seeds.
    application(tcp_socket socket, const application_script& plan, std::uint64_t own_seed,
                std::uint64_t other_seed);

    // Both are to run, side by side; the connection has ended when both have returned.
    awaitable<void> write();
    awaitable<void> read();

    // The deadline has passed: both return soon.
    void give_up() noexcept { close_with_reset(socket_); }

    [[nodiscard]] end_report report() const;

  private:
    awaitable<bool> write_up_to(std::uint64_t size);
    awaitable<bool> hear_other_end();
    void write_failed(const error_code& ec);
    void read_ended(const error_code& ec);
    void leave(leaving how);

    tcp_socket socket_;
    const application_script plan_;
    const load::pattern own_;
    load::checker other_;
    random_numbers random_;
    timer pause_;
    timer heard_;             // never expires; cancelled when the other's end was seen
    bool was_reset_ = false;  // a RST is told once: here, to the writer
    end_report report_;
};

}  // namespace culvert::faults
