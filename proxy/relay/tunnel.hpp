// One open session: a plaintext socket on one side, a carrier of records on the other, the two
// directions between them, and the deadlines of both.
#pragma once

#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/protocol/opener.hpp"
#include "proxy/relay/buffer_pool.hpp"
#include "proxy/relay/established.hpp"
#include "proxy/relay/kept_stream.hpp"

namespace culvert::relay {

using carrier::io_result;

struct traffic {
    std::uint64_t to_tunnel = 0;  // bytes of the application's stream
    std::uint64_t from_tunnel = 0;
};

class tunnel {
  public:
    // `plain` is a prepared socket, armed to reset. The limits and the pool outlive the tunnel, and
    // so does `kept`, which is told what goes to the other end and comes from it. When it says
    // that the stream may begin anew, run() throws without resetting `plain`.
    tunnel(carrier::stream_socket plain, established other_end,
           const config::session_limits& limits, buffer_pool& pool, kept_stream* kept = nullptr);

    // Relays until both directions have ended and the carrier is closed in good order. Throws
    // session_end otherwise; then the application has got a reset, and the other end an ALERT or
    // a reset, as PROTOCOL.md section 6 says.
    awaitable<void> run();

    // Ends run() with `why`. May be called at any time on the tunnel's thread.
    void stop(end_reason why);

    // After run().
    [[nodiscard]] carrier::stream_socket take_plain() noexcept { return std::move(plain_); }

    [[nodiscard]] const traffic& moved() const noexcept { return moved_; }

  private:
    struct inbox;

    // Plaintext to records.
    awaitable<void> seal_direction();
    awaitable<void> wait_for_plain();
    awaitable<bool> seal_available();
    io_result read_slots(buffer& into, std::size_t payload);
    bytes seal_slots(buffer& in, std::size_t payload, std::size_t size);
    awaitable<void> end_sealing();

    // Records to plaintext.
    awaitable<void> open_direction();
    awaitable<bool> receive(inbox& in);
    awaitable<io_result> read_records(inbox& in);
    static void make_room(inbox& in, std::size_t held);
    awaitable<void> open_received(inbox& in);
    std::size_t collect(inbox& in, std::size_t records);
    void judge(protocol::error fault);

    // Deadlines and keepalive.
    awaitable<void> watch();
    void check_deadlines(time_point now);
    awaitable<void> keep_alive(time_point now);
    [[nodiscard]] time_point next_check(time_point now) const;

    awaitable<void> finish_if_done();
    [[noreturn]] void end(end_reason why, std::string detail = {});
    [[nodiscard]] bool both_ended() const noexcept { return opener_.ended() && writer_->ended(); }

    carrier::stream_socket plain_;
    std::unique_ptr<record_writer> writer_;
    protocol::opener opener_;
    std::string leftover_;
    const config::session_limits& limits_;
    buffer_pool& pool_;
    kept_stream* const kept_;
    protocol::record_ramp ramp_;
    carrier::timer watch_timer_;
    const time_point began_ = clock::now();
    time_point last_stream_ = began_;       // when a stream byte moved last
    std::optional<time_point> listening_;   // since when we have waited for the other end
    clock::duration keepalive_;             // the interval now in force
    time_point keepalive_skipped_{};        // when one was due but could not be sent
    std::optional<session_end> first_end_;  // what went wrong first; the rest follows from it
    std::optional<end_reason> stop_;
    std::optional<protocol::alert> alert_;  // received
    bool finished_ = false;                 // both ended, and the carrier was told
    bool done_ = false;                     // and has ended
    traffic moved_;
};

}  // namespace culvert::relay
