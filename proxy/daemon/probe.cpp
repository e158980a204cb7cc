#include "proxy/daemon/probe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>

#include "config/uplinks.hpp"
#include "proxy/relay/deadline.hpp"
#include "proxy/relay/dial.hpp"
#include "proxy/relay/goodbye.hpp"

namespace culvert::daemon {
namespace {

using relay::dial_stage;

// A server that refuses says so at once, or when its backend has not answered within the connect
// timeout. Whoever is still silent after this has most likely connected.
constexpr std::chrono::seconds patience{2};

const char* advice(dial_stage failed) noexcept {
    switch (failed) {
        case dial_stage::resolve:
            return "check the host name in `connect` and this machine's name service";
        case dial_stage::connect:
            return "check that the server runs, its `listen` address and port, and the firewalls "
                   "between";
        case dial_stage::carrier:
            return "check that the server's section has carrier = ws and the same path, and the "
                   "HTTP proxy in front of it, if there is one";
        case dial_stage::handshake:
            return "check that both ends have the same psk and realm, or each other's public "
                   "keys; that the clocks agree; and the server's log, which says why it kept "
                   "silent";
        case dial_stage::open:
            return "check `service` on both ends, and that the backend runs where the server's "
                   "section says";
    }
    return "";
}

// Waits for a refusal. Empty: none came.
relay::awaitable<std::string> refusal(relay::established& session) {
    auto& wire = session.writer->to();
    const relay::deadline limit(session.writer->get_executor(), relay::clock::now() + patience,
                                [&wire] { wire.cancel(); });
    std::vector<std::uint8_t> memory(4'096);
    std::size_t size = session.leftover.size();
    std::copy(session.leftover.begin(), session.leftover.end(), memory.begin());
    std::size_t fed = 0;
    for (;;) {
        std::array<protocol::opened_record, 1> record;
        const auto done =
            session.opener.feed(relay::bytes(memory).subspan(fed, size - fed), record);
        fed += done.consumed;
        if (done.fault != protocol::error::none) co_return make_error_code(done.fault).message();
        if (done.records == 1) {
            if (record[0].type == protocol::record_type::alert)
                co_return relay::text_of(protocol::alert_from(record[0].payload[0]));
            // END, or DATA: the service is there.
            if (record[0].type != protocol::record_type::pad) co_return std::string();
            continue;
        }
        // A record larger than this memory is DATA: the service talks.
        if (size == memory.size()) co_return std::string();
        const auto got = co_await wire.read_some(relay::bytes(memory).subspan(size));
        if (limit.passed()) co_return std::string();
        if (got.ec) co_return "the server ended the connection: " + got.ec.message();
        size += got.size;
    }
}

// In good order where the service has ended, else with an ALERT.
relay::awaitable<void> take_leave(relay::established& session) {
    const bool ended = session.opener.ended();
    relay::buffer_pool pool;
    if (ended)
        co_await session.writer->to().finish();
    else
        co_await say_why(*session.writer, relay::session_end(relay::end_reason::shutdown), pool);
    session.writer->to().close();
}

relay::awaitable<int> go(const config::client_settings& section, const config::uplink& to) {
    auto next = dial_stage::resolve;
    const relay::dial_progress passed = [&next](dial_stage stage, const std::string& detail) {
        fmt::print("{:<10} ok   {}\n", text_of(stage), detail);
        next = static_cast<dial_stage>(static_cast<int>(stage) + 1);
    };
    std::string why;
    try {
        const auto keys = relay::keys_of(section);
        const relay::executor ex = co_await boost::asio::this_coro::executor;
        relay::dial_means with;
        with.to = &to;
        with.passed = &passed;
        relay::established session = co_await relay::dial(ex, section, keys, with);
        co_await relay::open_service(session, section.service);
        // Nothing is wanted of the service: most of them end as soon as they hear so.
        co_await session.writer->send(protocol::record_type::end);
        why = co_await refusal(session);
        if (why.empty()) {
            passed(dial_stage::open,
                   "service " + (section.service.empty() ? "(default)" : section.service));
            co_await take_leave(session);
            co_return 0;
        }
    } catch (const std::exception& e) {
        why = e.what();
        if (const auto* end = dynamic_cast<const relay::session_end*>(&e);
            end != nullptr && !end->detail().empty())
            why = end->detail();
    }
    fmt::print("{:<10} FAILED  {}\n{:<10}         {}\n", text_of(next), why, "", advice(next));
    co_return 1;
}

// Each server of the section, whatever becomes of the others.
relay::awaitable<int> go_everywhere(const config::client_settings& section) {
    const bool several = section.connect.size() > 1;
    int worst = 0;
    for (const config::uplink& to : section.connect) {
        if (several) fmt::print("{}{}\n", &to == &section.connect.front() ? "" : "\n", line_of(to));
        const int status = co_await go(section, to);
        worst = std::max(worst, status);
    }
    co_return worst;
}

}  // namespace

int probe(const config::client_settings& section) {
    boost::asio::io_context context(1);
    int status = 0;
    boost::asio::co_spawn(context, go_everywhere(section),
                          [&status](const std::exception_ptr& e, int result) {
                              if (e) std::rethrow_exception(e);
                              status = result;
                          });
    context.run();
    return status;
}

}  // namespace culvert::daemon
