// The first bytes of an application's stream, as long as it may still be necessary to say them
// again on another session.
#pragma once

#include <span>
#include <string>

#include "proxy/carrier/socket.hpp"
#include "proxy/protocol/record.hpp"
#include "proxy/relay/session_end.hpp"

namespace culvert::relay {

// For a session that was made ahead of need, and may have died unnoticed. What a lost session has
// carried is never said again unless the server itself says, in a record that verifies, that it
// started nothing: whoever cuts a connection at the right moment could otherwise have a request
// done twice.
class kept_stream {
  public:
    static constexpr std::size_t most = 65'536;  // bytes; of longer streams nothing is kept

    // Bytes that go to the server for the first time: the first `size` of `parts`.
    void sent(std::span<const iovec> parts, std::size_t size);
    void sent(carrier::bytes_view bytes);
    void sent_end() noexcept { sent_any_ = true; }

    // A record of the server that has verified. `payload` may be changed and overwritten later.
    void received(protocol::record_type type, carrier::bytes_view payload);

    // After the session has ended so: whether the stream may begin anew on another one.
    [[nodiscard]] bool may_begin_anew(const session_end& why) const noexcept;

    // Whether anything of the service has come back.
    [[nodiscard]] bool answered() const noexcept { return answered_; }
    // What has to be said then.
    [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

  private:
    void forget() noexcept;

    std::string bytes_;
    bool sent_any_ = false;    // of the stream, its end included
    bool too_long_ = false;    // bytes_ is not all of it
    bool answered_ = false;    // the service is at work
    bool not_opened_ = false;  // the server says so
};

}  // namespace culvert::relay
