// A connection that is none of culvert's, passed on to a backend as it is: no records, no keys.
#pragma once

#include <memory>
#include <string>

#include "proxy/carrier/carrier.hpp"

namespace culvert::relay {

using carrier::awaitable;
using carrier::error_code;
using carrier::time_point;

// Bytes, ends and resets of each side go to the other. A direction that has nothing to move holds
// no buffer, and one that does holds a small one: whoever asks for this has shown no key.
class plain_relay {
  public:
    // Both come prepared, and armed to reset. Nothing either way for `idle` ends it.
    plain_relay(std::unique_ptr<carrier::carrier> stranger,
                std::unique_ptr<carrier::carrier> backend, carrier::clock::duration idle);

    enum class outcome : std::uint8_t {
        ended,   // both directions, in good order
        failed,  // one side was reset, and so was the other
        idle,
        stopped,
    };

    // `received` goes to the backend before all else; `ended`: and nothing follows. Once.
    awaitable<outcome> run(std::string received, bool ended);

    // Resets both sides; run() returns soon.
    void stop() { end(outcome::stopped); }

    [[nodiscard]] std::uint64_t up() const noexcept { return to_backend_.moved; }
    [[nodiscard]] std::uint64_t down() const noexcept { return to_stranger_.moved; }

  private:
    static constexpr std::size_t piece_size = 16'384;

    struct direction {
        carrier::carrier& from;
        carrier::carrier& to;
        std::uint64_t moved = 0;
    };

    void begin(direction& way, std::string first, bool ended);
    awaitable<void> carry(direction& way, std::string first, bool ended);
    awaitable<error_code> pass_on(direction& way);
    awaitable<error_code> move_some(direction& way, bool& ended);
    awaitable<error_code> watch(direction& way);
    void end(outcome why);

    const std::unique_ptr<carrier::carrier> stranger_;
    const std::unique_ptr<carrier::carrier> backend_;
    const carrier::clock::duration idle_;
    direction to_backend_{*stranger_, *backend_};
    direction to_stranger_{*backend_, *stranger_};
    carrier::timer watch_timer_;
    time_point last_moved_ = carrier::clock::now();
    unsigned running_ = 0;  // directions whose coroutine is there still
    unsigned ended_ = 0;    // directions that came to their end
    bool over_ = false;
    outcome outcome_ = outcome::ended;
    carrier::turn turn_;
};

}  // namespace culvert::relay
