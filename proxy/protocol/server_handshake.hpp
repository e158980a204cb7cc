// The server's end of the handshake, as a state machine over bytes: states A, B, P, F and S of
// PROTOCOL.md section 7. It says nothing before the client has proved itself.
#pragma once

#include <functional>
#include <vector>

#include "proxy/protocol/error.hpp"
#include "proxy/protocol/handshake.hpp"
#include "proxy/protocol/key_stock.hpp"
#include "proxy/protocol/replay_cache.hpp"

namespace culvert::protocol {

inline constexpr std::size_t max_psks = 16;

// The constants of a listener.
struct server_keys {
    std::vector<symmetric_state> starts;  // one a psk, 1 to max_psks, each tried on box A
    std::optional<key_pair> identity;     // static mode
    // Static mode: whether a client key is in the list. Asked after the client has proved it.
    std::function<bool(const public_key&)> knows;
    // How far a client's clock may be off; nullopt: not checked.
    std::optional<std::chrono::seconds> clock_skew = std::chrono::seconds{120};

    static server_keys with_psks(std::span<const crypto::secret<32>> psks, bytes_view realm);
    // Without a psk, `psks` is empty.
    static server_keys with_identity(key_pair identity,
                                     std::function<bool(const public_key&)> knows,
                                     std::span<const crypto::secret<32>> psks = {});
};

class server_handshake {
  public:
    enum class state : std::uint8_t {
        await_a,    // A: salt_c and box A
        await_bc,   // B: static mode, boxes B and C
        await_pad,  // P
        replied,    // F: message2() is ready, split() may be called
        silent,     // S: never leaves, never writes
    };

    // `keys`, `cache` and `stock` outlive the handshake. `pad_length` of message 2 is 0–1,023
    // bytes. The ephemeral key comes from `stock` if it has one when message 1 is whole.
    server_handshake(const server_keys& keys, replay_cache& cache, std::uint16_t pad_length,
                     random_source& random = system_random(), key_stock* stock = nullptr);

    // Takes bytes of message 1, in pieces of any size, and says how many it used: what is left
    // over behind a whole message 1 belongs to the record stream. In state silent it takes all.
    std::size_t feed(bytes_view in, unix_seconds now);

    [[nodiscard]] state current() const noexcept { return state_; }

    // Why state silent was entered.
    [[nodiscard]] error failure() const noexcept { return failure_; }
    // Client time minus server time, once box A has opened: for the log.
    [[nodiscard]] std::int64_t clock_difference() const noexcept { return clock_difference_; }
    // A salt had to leave the full cache: for the log.
    [[nodiscard]] bool evicted() const noexcept { return evicted_; }

    // In state replied: all of message 2.
    [[nodiscard]] bytes_view message2() const noexcept {
        return {message2_.data(), message2_size_};
    }
    // In state replied: which psk opened box A, and the client's static key in static mode.
    [[nodiscard]] std::size_t psk_index() const noexcept { return psk_index_; }
    [[nodiscard]] const std::optional<public_key>& client() const noexcept { return client_; }

    // Once, in state replied.
    [[nodiscard]] session_secrets split() &&;

  private:
    void step(unix_seconds now);
    error step_a(unix_seconds now);
    error step_bc();
    error step_pad();
    [[nodiscard]] bool open_a(bytes_view salt, bytes_view box, bytes plaintext);
    error check_time_and_replay(const hello& from_client, bytes_view salt, unix_seconds now);
    [[nodiscard]] bool write_message2();
    void fail(error e) noexcept;

    const server_keys& keys_;
    replay_cache& cache_;
    random_source& random_;
    key_stock* const stock_;
    const std::uint16_t pad_length_;            // of message 2
    std::optional<symmetric_state> symmetric_;  // from box A on, until split() or a failure
    public_key client_ephemeral_{};
    std::optional<public_key> client_;
    std::uint16_t client_pad_ = 0;
    std::size_t psk_index_ = 0;
    std::int64_t clock_difference_ = 0;
    bool evicted_ = false;
    std::array<std::uint8_t, max_message2> message2_{};
    std::size_t message2_size_ = 0;
    std::array<std::uint8_t, max_pad> part_{};  // the field that is coming in
    std::size_t have_ = 0;
    std::size_t need_ = gate_size;
    state state_ = state::await_a;
    error failure_ = error::none;
};

}  // namespace culvert::protocol
