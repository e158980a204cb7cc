// A session that is made ahead of need: the server waits for its OPEN (state W of PROTOCOL.md).
#pragma once

#include <optional>

#include "config/settings.hpp"
#include "proxy/relay/buffer_pool.hpp"
#include "proxy/relay/established.hpp"

namespace culvert::relay {

class spare_session {
  public:
    // PROTOCOL.md section 5: a server's keepalive comes more often, so silence means that the
    // path is gone.
    static constexpr std::chrono::seconds longest_silence{35};

    // `far` has sent its record 0. The limits and the buffers outlive the spare.
    spare_session(established far, const config::session_limits& limits, buffer_pool& buffers,
                  time_point retire_at, clock::duration silence = longest_silence);

    // Keeps the session alive and watches what comes of the server. Returns when it has been
    // taken; throws session_end when it is of no use any more. Run once.
    awaitable<void> keep();

    // Takes leave of the server, after keep() has thrown `why`.
    awaitable<void> leave(const session_end& why);

    // Ends keep() soon with `why`; nobody can take the spare any more.
    void stop(end_reason why);

    // Whether it may be taken: heard of lately, and in the middle of nothing.
    [[nodiscard]] bool ready() const noexcept;
    [[nodiscard]] time_point heard() const noexcept { return heard_; }
    [[nodiscard]] time_point made() const noexcept { return made_; }

    // The session, after a last look at what the server has sent; none if that was its end.
    // Precondition: ready().
    std::optional<established> take();

  private:
    awaitable<bool> wait_until(time_point when);
    bool read();
    void open_received();
    void make_room();

    established far_;
    const config::session_limits& limits_;
    buffer_pool& buffers_;
    const time_point made_ = clock::now();
    const time_point retire_at_;
    const clock::duration silence_;
    time_point heard_ = made_;  // a record that verified, or message 2
    time_point pad_due_;
    std::optional<end_reason> stop_;
    bool waiting_ = false;  // keep() is
    bool taken_ = false;

    // Received bytes: [0, fed_) went through the opener, [fed_, size_) did not. No memory while no
    // record is unfinished.
    buffer_pool::handle memory_;
    std::size_t fed_ = 0;
    std::size_t size_ = 0;
};

}  // namespace culvert::relay
