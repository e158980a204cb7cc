#include "proxy/relay/kept_stream.hpp"

#include <algorithm>

namespace culvert::relay {

void kept_stream::sent(std::span<const iovec> parts, std::size_t size) {
    for (const iovec& part : parts) {
        const std::size_t here = std::min(size, part.iov_len);
        if (here == 0) return;
        sent({static_cast<const std::uint8_t*>(part.iov_base), here});
        size -= here;
    }
}

void kept_stream::sent(carrier::bytes_view bytes) {
    if (bytes.empty()) return;
    sent_any_ = true;
    if (answered_ || too_long_) return;
    if (bytes.size() > most - bytes_.size()) {
        too_long_ = true;
        forget();
        return;
    }
    bytes_.append(bytes.begin(), bytes.end());
}

void kept_stream::received(protocol::record_type type, carrier::bytes_view payload) {
    using protocol::record_type;
    if (type == record_type::alert)
        not_opened_ = protocol::alert_from(payload[0]) == protocol::alert::not_opened;
    if (answered_ || (type != record_type::data && type != record_type::end)) return;
    answered_ = true;
    forget();
}

void kept_stream::forget() noexcept {
    bytes_ = std::string();
}

bool kept_stream::may_begin_anew(const session_end& why) const noexcept {
    if (answered_ || too_long_) return false;
    if (why.why() == end_reason::alerted) return not_opened_;
    return why.why() == end_reason::tunnel_lost && !sent_any_;
}

}  // namespace culvert::relay
