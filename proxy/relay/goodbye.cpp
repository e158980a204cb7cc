#include "proxy/relay/goodbye.hpp"

#include <array>

#include "proxy/relay/deadline.hpp"

namespace culvert::relay {
namespace {

constexpr std::chrono::seconds alert_grace{2};

// After the ALERT everything is read to the end: a close with bytes unread would be a reset, and
// that would destroy the ALERT.
awaitable<void> alert_and_drain(record_writer& writer, protocol::alert code, buffer_pool& pool) {
    const std::array<std::uint8_t, 1> payload{static_cast<std::uint8_t>(code)};
    co_await writer.send(protocol::record_type::alert, payload);
    co_await writer.to().finish();
    const auto waste = pool.take();
    while (!(co_await writer.to().read_some(waste->memory)).ec) {
    }
}

}  // namespace

awaitable<void> say_why(record_writer& writer, const session_end& why, buffer_pool& pool) {
    auto& to = writer.to();
    const auto code = alert_for(why.why());
    if (code && writer.usable()) {
        // Closed, not reset: the ALERT may still be on its way to a slow reader.
        const deadline limit(writer.get_executor(), clock::now() + alert_grace,
                             [&to] { to.close(); });
        try {
            co_await alert_and_drain(writer, *code, pool);
            to.close();
        } catch (const std::exception&) {
            to.reset();
        }
    } else if (why.why() == end_reason::alerted) {
        to.close();
    } else {
        to.reset();
    }
}

}  // namespace culvert::relay
