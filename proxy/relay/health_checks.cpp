#include "proxy/relay/health_checks.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>

#include "proxy/relay/connect.hpp"
#include "proxy/relay/keepalive.hpp"
#include "proxy/relay/proxy_protocol.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using carrier::awaitable;
using carrier::clock;
using std::chrono::milliseconds;

constexpr auto no_throw = asio::as_tuple(carrier::use_awaitable);

// A target of a section that may end at any time.
struct checked_target {
    std::weak_ptr<const server_context> section;
    std::size_t service;
    std::size_t number;
    resolver& names;
};

// A target that wants a header takes a connection without one for a fault. Version 1 knows no word
// for connections of our own: they come from this end, and that is what it says.
void say_that_it_is_a_check(carrier::stream_socket& socket, config::proxy_header version) {
    if (version == config::proxy_header::none) return;
    std::vector<std::uint8_t> header = proxy_header_local();
    if (version == config::proxy_header::v1) {
        const auto from = carrier::local_place(socket);
        const auto to = carrier::peer_place(socket);
        header = proxy_header_v1(from && to ? std::optional(proxied{*from, *to}) : std::nullopt);
    }
    const iovec part{header.data(), header.size()};
    carrier::try_write(socket, std::span(&part, 1));
}

awaitable<void> check_once(carrier::executor ex, const server_context& section,
                           const backends& service, const checked_target& which) {
    const milliseconds patience =
        std::min(*service.settings().check, section.settings.limits.connect);
    connected to = co_await connect(ex, service.settings().targets[which.number],
                                    clock::now() + patience, closing::quiet, which.names);
    place& target = service.target(which.number);
    if (!to.ec) {
        target.answered(clock::now());
        say_that_it_is_a_check(to.socket, service.settings().send_proxy);
        carrier::end_writing(to.socket);
        carrier::close_quietly(to.socket);
    } else if (!is_our_own(to.ec)) {
        target.failed(to.ec.message(), clock::now());
    }
}

// Checks of many targets, and of many servers, shall not come at the same time.
awaitable<void> keep_checking(carrier::executor ex, checked_target which, milliseconds interval) {
    carrier::timer pause(ex);
    milliseconds next = draw_up_to(interval);
    for (;;) {
        pause.expires_after(next);
        co_await pause.async_wait(no_throw);
        const auto section = which.section.lock();
        if (!section || section->here->checking != section.get()) co_return;
        try {
            co_await check_once(ex, *section, *section->services[which.service], which);
        } catch (const std::bad_alloc&) {
            // Then this check tells nothing.
        }
        next = interval - draw_up_to(interval / 5);
    }
}

}  // namespace

void start_health_checks(const carrier::executor& ex,
                         const std::shared_ptr<const server_context>& section, resolver& names) {
    if (section->here->checking.exchange(section.get()) == section.get()) return;
    for (std::size_t service = 0; service < section->services.size(); ++service) {
        const auto& settings = section->services[service]->settings();
        if (!settings.check) continue;
        for (std::size_t number = 0; number < settings.targets.size(); ++number) {
            const checked_target which{section, service, number, names};
            asio::co_spawn(ex, keep_checking(ex, which, *settings.check),
                           [](const std::exception_ptr& e) {
                               if (e) std::rethrow_exception(e);
                           });
        }
    }
}

}  // namespace culvert::relay
