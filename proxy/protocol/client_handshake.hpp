// The client's end of the handshake, as a state machine over bytes: states D, G, Q, O and X of
// PROTOCOL.md section 7.
#pragma once

#include "proxy/protocol/error.hpp"
#include "proxy/protocol/handshake.hpp"
#include "proxy/protocol/key_stock.hpp"

namespace culvert::protocol {

// The constants of a client section: which server, and who we are.
struct client_keys {
    symmetric_state start;
    std::optional<key_pair> identity;  // static mode
    std::optional<public_key> server;  // static mode

    static client_keys with_psk(const crypto::secret<32>& psk, bytes_view realm);
    static client_keys with_identity(key_pair identity, const public_key& server,
                                     const crypto::secret<32>* psk = nullptr);
};

class client_handshake {
  public:
    enum class state : std::uint8_t {
        await_d,    // D: salt_s and box D
        await_f,    // G: box F
        await_pad,  // Q
        open,       // O: split() may be called
        failed,     // X
    };

    // Makes message 1. `keys` outlives the handshake. `now` goes into the message; `pad_length`
    // is 0–1,023 bytes. The ephemeral key comes from `stock` if it has one. Ends at once in state
    // failed (weak_key) when the configured server key is of low order.
    client_handshake(const client_keys& keys, unix_seconds now, std::uint16_t pad_length,
                     random_source& random = system_random(), key_stock* stock = nullptr);

    // Message 1, to be sent in one write; empty after a failure.
    [[nodiscard]] bytes_view message1() const noexcept {
        return {message1_.data(), message1_size_};
    }

    // Takes bytes of the server's answer, in pieces of any size, and says how many it used: what
    // is left over behind a whole message 2 belongs to the record stream.
    std::size_t feed(bytes_view in);

    [[nodiscard]] state current() const noexcept { return state_; }
    [[nodiscard]] error failure() const noexcept { return failure_; }

    // Once, in state open.
    [[nodiscard]] session_secrets split() &&;

  private:
    [[nodiscard]] bool write_message1(unix_seconds now, std::uint16_t pad_length,
                                      random_source& random, key_stock* stock);
    void step();
    error step_d();
    error step_f();
    void erase() noexcept;
    void fail(error e) noexcept;

    const client_keys& keys_;
    std::optional<symmetric_state> symmetric_;  // until split() or a failure
    key_pair ephemeral_;                        // until box D has been read
    std::array<std::uint8_t, max_message1> message1_{};
    std::size_t message1_size_ = 0;
    std::array<std::uint8_t, max_pad> part_{};  // the field that is coming in
    std::size_t have_ = 0;
    std::size_t need_ = salt_size + box_d_size;
    state state_ = state::await_d;
    error failure_ = error::none;
};

}  // namespace culvert::protocol
