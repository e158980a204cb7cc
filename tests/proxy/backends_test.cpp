// Services with several targets: which one is next, what happens when it fails, limits, checks.
#include "proxy/relay/backends.hpp"

#include <doctest/doctest.h>

#include <map>

#include "proxy/relay/health_checks.hpp"
#include "tests/proxy/servers.hpp"

using namespace culvert::tests;
using culvert::protocol::record_type;
using culvert::relay::backends;
using culvert::relay::place;
namespace config = culvert::config;
namespace relay = culvert::relay;

namespace {

config::service service_with(std::size_t targets) {
    config::service made = service_at("main", 1);
    while (made.targets.size() < targets)
        made.targets.push_back(local(static_cast<std::uint16_t>(made.targets.size() + 1)));
    return made;
}

// The port that the next connection goes to.
std::uint16_t next_of(backends& of) {
    auto way = of.search();
    auto chosen = of.next(way);
    REQUIRE(chosen.has_value());
    chosen->visit.answered();
    return chosen->target.port;
}

// A server with several listeners behind one service.
struct several {
    explicit several(std::size_t count) : listeners(count) {
        for (auto& one : listeners) one = std::make_unique<listener>();
    }
    template <class Change>
    std::unique_ptr<one_server> server(Change change) {
        return std::make_unique<one_server>([&](auto& settings) {
            config::service& service = settings.services[0];
            service.targets.clear();
            for (const auto& one : listeners) service.targets.push_back(local(one->port()));
            change(settings);
        });
    }
    // Whom a new connection reaches; nobody: -1.
    int reached(one_server& f, far_end& far) {
        int found = -1;
        f.until(far, [&] {
            for (std::size_t i = 0; i < listeners.size(); ++i) {
                if (!listeners[i]) continue;
                const int fd = listeners[i]->accept();
                if (fd < 0) continue;
                peers.emplace_back(fd);
                found = static_cast<int>(i);
            }
            return found >= 0 || far.wire.over();
        });
        return found;
    }

    std::vector<std::unique_ptr<listener>> listeners;
    std::vector<peer> peers;
};

}  // namespace

TEST_SUITE("backends: which target") {
    TEST_CASE("round robin, over those that are up") {
        backends of("server.test", service_with(3), {});
        std::map<int, int> counts;
        for (int i = 0; i < 9; ++i) ++counts[next_of(of)];
        CHECK(counts == std::map<int, int>{{1, 3}, {2, 3}, {3, 3}});
        of.target(1).failed("refused", culvert::carrier::clock::now());
        counts.clear();
        for (int i = 0; i < 8; ++i) ++counts[next_of(of)];
        CHECK(counts == std::map<int, int>{{1, 4}, {3, 4}});  // the third has not its share too
    }

    TEST_CASE("the first that is up") {
        auto settings = service_with(3);
        settings.balance = config::balance::first;
        backends of("server.test", settings, {});
        for (int i = 0; i < 3; ++i) CHECK(next_of(of) == 1);
        of.target(0).failed("refused", culvert::carrier::clock::now());
        for (int i = 0; i < 3; ++i) CHECK(next_of(of) == 2);
        of.target(0).answered(culvert::carrier::clock::now());
        CHECK(next_of(of) == 1);
    }

    TEST_CASE("the one with the fewest connections") {
        auto settings = service_with(3);
        settings.balance = config::balance::least_connections;
        backends of("server.test", settings, {});
        std::map<int, std::vector<place::visit>> held;
        const auto connect = [&] {
            auto way = of.search();
            auto chosen = of.next(way);
            chosen->visit.answered();
            held[chosen->target.port].push_back(std::move(chosen->visit));
        };
        for (int i = 0; i < 6; ++i) connect();
        for (const int port : {1, 2, 3}) CHECK(held[port].size() == 2);
        held[2].clear();
        connect();
        connect();
        CHECK(held[2].size() == 2);
        CHECK(held[1].size() + held[3].size() == 4);
    }

    TEST_CASE("limits: the service's own idle time, and a limit of connections") {
        auto settings = service_with(1);
        config::session_limits section;
        section.idle = 60s;
        CHECK(backends("s", settings, section).limits().idle == 60s);
        settings.idle.emplace(5s);
        CHECK(backends("s", settings, section).limits().idle == 5s);
        settings.idle.emplace(std::nullopt);
        CHECK(backends("s", settings, section).limits().idle == std::nullopt);

        settings.connections = 2;
        backends of("s", settings, section);
        {
            const auto one = of.take_seat();
            const auto two = of.take_seat();
            CHECK(one.has_value());
            CHECK(two.has_value());
            CHECK_FALSE(of.take_seat().has_value());
            CHECK(of.status().open == 2);
            CHECK(of.status().refused == 1);
        }
        CHECK(of.status().open == 0);
        CHECK(of.take_seat().has_value());
    }

    TEST_CASE("new settings take over what is known of a target, and the connections") {
        auto settings = service_with(2);
        settings.connections = 1;
        backends before("s", settings, {});
        const auto seat = before.take_seat();
        before.target(1).failed("refused", culvert::carrier::clock::now());
        std::swap(settings.targets[0], settings.targets[1]);
        settings.targets.push_back(local(3));
        backends after("s", settings, {}, &before);
        CHECK_FALSE(after.status().targets[0].up);
        CHECK(after.status().targets[1].up);
        CHECK(after.status().targets[2].up);
        CHECK_FALSE(after.take_seat().has_value());
    }
}

TEST_SUITE("backends: sessions") {
    TEST_CASE("a target that refuses is passed over, and is down for the next ones") {
        several all(3);
        auto f = all.server(
            [](auto& settings) { settings.services[0].balance = config::balance::first; });
        all.listeners[0].reset();
        for (int i = 0; i < 3; ++i) {
            auto& entry = f->connect();
            far_end far = f->opened(entry, "main");
            CHECK(all.reached(*f, far) == 1);
            far.wire.reset();
        }
        const auto status = f->context->services[0]->status();
        CHECK_FALSE(status.targets[0].up);
        CHECK(status.targets[0].failures == 1);  // the others did not even try
        CHECK(status.targets[1].connections == 3);
    }

    TEST_CASE("a target that swallows connections takes its share of the time, not all of it") {
        const listener full(0);
        std::vector<peer> queue;
        for (int i = 0; i < 4; ++i) queue.emplace_back(connect_to(full.port()));
        several all(1);
        auto f = all.server([&](auto& settings) {
            auto& service = settings.services[0];
            service.targets.insert(service.targets.begin(), local(full.port()));
            service.balance = config::balance::first;
            settings.limits.connect = 2s;
        });
        auto& entry = f->connect();
        far_end far = f->opened(entry, "main");
        const auto began = culvert::carrier::clock::now();
        CHECK(all.reached(*f, far) == 0);
        CHECK(seconds_since(began) >= 0.9);
        CHECK(seconds_since(began) < 1.9);
    }

    TEST_CASE("when all are down all are tried, and the last word is an ALERT") {
        several all(2);
        auto f = all.server([](auto&) {});
        for (auto& one : all.listeners) one.reset();
        for (int i = 0; i < 2; ++i) {
            auto& entry = f->connect();
            far_end far = f->opened(entry, "main");
            REQUIRE(f->over(far));
            CHECK(far.alert() == 1);
            far.wire.end();
            REQUIRE(f->until(far, [&] { return entry.end.is(end_reason::backend_unreachable); }));
            CHECK(entry.end.detail.find("; ") != std::string::npos);  // each with its reason
        }
        CHECK(f->context->services[0]->status().targets[1].failures == 2);
    }

    TEST_CASE("a service that is full: ALERT 6, and its place is free when a session ends") {
        several all(1);
        auto f = all.server([](auto& settings) { settings.services[0].connections = 1; });
        auto& first = f->connect();
        far_end holder = f->opened(first, "main");
        REQUIRE(all.reached(*f, holder) == 0);
        auto& second = f->connect();
        far_end refused = f->opened(second, "main");
        REQUIRE(f->over(refused));
        CHECK(refused.alert() == 6);
        refused.wire.end();
        CHECK(f->until(refused, [&] { return second.end.is(end_reason::too_many); }));
        holder.wire.reset();
        REQUIRE(f->world.until([&] { return first.end.done; }));
        first.session.reset();
        auto& third = f->connect();
        far_end again = f->opened(third, "main");
        CHECK(all.reached(*f, again) == 0);
    }

    TEST_CASE("the service's idle time counts, not the section's") {
        several all(1);
        auto f = all.server([](auto& settings) {
            settings.services[0].idle.emplace(1s);
            settings.limits.idle = 60s;
        });
        auto& entry = f->connect();
        far_end far = f->opened(entry, "main");
        REQUIRE(all.reached(*f, far) == 0);
        REQUIRE(f->over(far));
        CHECK(far.alert() == 3);
        far.wire.end();
        CHECK(f->until(far, [&] { return entry.end.is(end_reason::idle); }));
    }
}

TEST_SUITE("backends: checks") {
    TEST_CASE("they find a target that went, and one that came, and leave in good order") {
        auto gone = std::make_unique<listener>();
        several all(1);
        auto f = all.server([&](auto& settings) {
            settings.services[0].targets.push_back(local(gone->port()));
            settings.services[0].check = 1s;
            settings.services[0].send_proxy = config::proxy_header::v2;
        });
        relay::start_health_checks(f->world.executor(), f->context);
        const auto& service = *f->context->services[0];
        gone.reset();
        CHECK(f->world.until([&] { return !service.status().targets[1].up; }, 10s));
        CHECK(service.status().targets[0].up);
        peer checked;
        REQUIRE(f->world.until([&] {
            const int fd = all.listeners[0]->accept();
            if (fd >= 0) checked = peer(fd);
            return fd >= 0;
        }));
        REQUIRE(f->world.until([&] { return checked.pump(), checked.over(); }));
        CHECK(checked.ended);
        CHECK(checked.received == relay::proxy_header_local());
        CHECK(service.status().targets[0].connections == 0);  // a check is none
    }

    TEST_CASE("they end with the section") {
        several all(1);
        loop other;
        {
            culvert::protocol::replay_cache replays;
            auto settings = psk_server(all.listeners[0]->port());
            settings.services[0].check = 1s;
            const auto context =
                std::make_shared<const relay::server_context>(std::move(settings), replays);
            relay::start_health_checks(other.executor(), context);
            REQUIRE(other.until([&] {
                const int fd = all.listeners[0]->accept();
                return fd >= 0 && (peer(fd), true);
            }));
        }
        other.run_for(2500ms);
        CHECK(all.listeners[0]->accept() < 0);
    }
}
