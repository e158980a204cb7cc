// One open session: a plaintext socket on one side, a carrier of records on the other, the two
// directions between them, and the deadlines of both.
#pragma once

#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/observe/counters.hpp"
#include "proxy/protocol/opener.hpp"
#include "proxy/relay/buffer_pool.hpp"
#include "proxy/relay/established.hpp"
#include "proxy/relay/kept_stream.hpp"
#include "proxy/relay/throttle.hpp"

namespace culvert::relay {

using carrier::io_result;

struct traffic {
    std::uint64_t to_tunnel = 0;  // bytes of the application's stream
    std::uint64_t from_tunnel = 0;
};

// The directions are steps, not coroutines: a step moves bytes for as long as nothing has to be
// waited for, then names the step that goes on when a socket is ready, and returns. So an idle
// connection holds no frame and no buffer, and a small message costs four system calls: the wait
// (two), one read, one write. Only the deadlines are a coroutine: run().
class tunnel {
  public:
    // `plain` is a prepared socket, armed to reset. The limits and the pool outlive the tunnel, and
    // so do `kept` and `counts`. `kept` is told what goes to the other end and comes from it. When
    // it says that the stream may begin anew, run() throws without resetting `plain`. `counts` is
    // told how much, as it moves. Without `rate` a direction moves what the sockets allow.
    tunnel(carrier::stream_socket plain, established other_end,
           const config::session_limits& limits, buffer_pool& pool, kept_stream* kept = nullptr,
           observe::meter* counts = nullptr, std::unique_ptr<throttle> rate = nullptr);

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
    using step = void (tunnel::*)();
    using stream_socket = carrier::stream_socket;

    // So many rounds of a direction without waiting, then others get their turn.
    static constexpr unsigned rounds_at_once = 2;

    // The application's bytes on their way to the other end.
    struct outbox {
        buffer_pool::handle memory;
        std::size_t sealed = 0;  // bytes of the stream in the run that is being written
        std::size_t slots = 1;   // to offer to the next read: each costs the kernel a little
        bool drained = false;    // the last read took all there was
    };

    // Received bytes: [0, opened) is done with, [opened - held, size) belongs to records still to
    // be opened.
    struct inbox {
        buffer_pool::handle memory;
        std::size_t opened = 0;
        std::size_t size = 0;
        std::span<iovec> parts;   // of memory->parts, still to be written to the application
        std::size_t payload = 0;  // bytes of the stream in the parts, also in those written
        protocol::error fault = protocol::error::none;  // behind the parts
        bool drained = false;

        [[nodiscard]] bytes room() const { return bytes(memory->memory).subspan(size); }
        [[nodiscard]] bytes unopened() const {
            return bytes(memory->memory).subspan(opened, size - opened);
        }
    };

    // tunnel_seal.cpp: plaintext to records.
    void seal_some();
    bool flush_run();
    bool seal_next();
    [[nodiscard]] bool rest_before_sealing();
    io_result read_slots(std::size_t payload);
    bytes close_up(std::size_t payload, std::size_t size);
    void wait_for_plain();
    void watch_plain();
    void judge_plain();

    // tunnel_open.cpp: records to plaintext.
    void open_some();
    bool deliver();
    bool open_next();
    [[nodiscard]] bool rest_before_opening();
    bool receive();
    io_result read_records();
    void make_room(std::size_t held);
    void collect(std::size_t records);
    void judge(protocol::error fault);
    void wait_for_records();

    // Steps.
    void take(step next) noexcept;
    void when(stream_socket& socket, stream_socket::wait_type what, step next);
    void let_others_run(step next);
    void rest(share& of, step next);
    void go_on(const error_code& ec, step next) noexcept;
    awaitable<void> settle();

    // Deadlines and keepalive.
    awaitable<void> relay();
    void check_deadlines(time_point now);
    [[nodiscard]] time_point death(time_point now) const;
    void keep_alive(time_point now);
    [[nodiscard]] time_point next_check(time_point now) const;

    // Ends.
    awaitable<void> part();
    void finish();
    void other_left();
    void fail(const session_end& why);
    [[noreturn]] static void end(end_reason why, std::string detail = {});
    void wake() { watch_timer_.cancel(); }
    [[nodiscard]] bool over() const noexcept { return done() || failed_; }
    // Whatever was to be said has been, by both ends.
    [[nodiscard]] bool done() const noexcept { return took_leave_ && other_left_; }
    [[nodiscard]] bool both_ended() const noexcept { return opener_.ended() && writer_->ended(); }
    // Both streams have left this end whole, each with its end.
    [[nodiscard]] bool complete() const noexcept {
        return delivered_ && writer_->ended() && !writer_->writing();
    }

    stream_socket plain_;
    std::unique_ptr<record_writer> writer_;
    protocol::opener opener_;
    outbox out_;
    inbox in_;
    std::string leftover_;
    const config::session_limits& limits_;
    buffer_pool& pool_;
    kept_stream* const kept_;
    observe::meter* const counts_;
    const std::unique_ptr<throttle> rate_;
    protocol::record_ramp ramp_;
    carrier::timer watch_timer_;
    const time_point began_ = clock::now();
    time_point last_stream_ = began_;       // when a stream byte moved last
    std::optional<time_point> listening_;   // since when we have waited for the other end
    std::optional<time_point> unfinished_;  // since when we have read at a record
    clock::duration keepalive_;             // the interval now in force
    time_point keepalive_skipped_{};        // when one was due but could not be sent
    std::unique_ptr<session_end> failed_;   // what went wrong first; the rest follows from it
    std::optional<end_reason> stop_;
    std::optional<protocol::alert> alert_;  // received
    bool watching_ = false;                 // for a failure of plain_
    unsigned waiting_ = 0;                  // steps that are to come
    bool delivered_ = false;                // the application was told of the END
    bool finished_ = false;                 // both ended, and the carrier was told
    bool took_leave_ = false;               // and our goodbye is out
    bool other_left_ = false;               // and so is the other end's
    traffic moved_;
};

}  // namespace culvert::relay
