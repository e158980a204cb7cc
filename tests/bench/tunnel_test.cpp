// The modes through culvert/1, with this program as the client end.
#include <doctest/doctest.h>

#include "bench/report.hpp"
#include "bench/run.hpp"
#include "tests/bench/free_port.hpp"
#include "tests/bench/meddler.hpp"
#include "tests/bench/tunnel_server.hpp"

using namespace culvert;
using namespace culvert::load;
using namespace culvert::load::testing;
using namespace std::chrono_literals;

namespace {

config::key test_key(std::uint8_t fill) {
    config::key key;
    for (auto& byte : key.writable()) byte = fill;
    return key;
}

config::server_settings server_for(const config::endpoint& target, config::carrier over) {
    config::server_settings out;
    out.name = "test";
    out.listen = free_address();
    out.carrier = over;
    out.path = "/load";
    out.keys.psk = test_key(7);
    out.services.emplace_back();
    out.services.front().name = "load";
    out.services.front().targets = {target};
    return out;
}

plan through(const config::endpoint& server, config::carrier over, mode what) {
    plan out;
    out.mode = what;
    out.to.tunnel.emplace();
    out.to.tunnel->connect = {{server, over, "/load"}};
    out.to.tunnel->service = "load";
    out.to.tunnel->keys.psk = test_key(7);
    out.size = what == mode::bulk ? 262'144 : 100;
    out.reply_size = out.size;
    out.duration = 150ms;
    out.grace = 1s;
    out.quiet = true;
    return out;
}

void check_good(const plan& what) {
    const outcome found = run(what);
    for (const auto& [reason, times] : found.failures.reasons()) FAIL_CHECK(reason);
    CHECK(integrity_text(found) == "ok");
    CHECK(found.counts.sent + found.counts.received > 0);
}

std::string first_reason(const plan& what) {
    const outcome found = run(what);
    CHECK(!succeeded(found));
    const auto& reasons = found.failures.reasons();
    return reasons.empty() ? "none" : reasons.begin()->first;
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != text.npos;
}

}  // namespace

TEST_SUITE("bench.tunnel") {
    TEST_CASE("every mode over every carrier") {
        const backend there(on_free_port());
        for (const auto over : {config::carrier::tcp, config::carrier::websocket}) {
            auto settings = server_for(there.address(), over);
            const auto address = settings.listen;
            const tunnel_server server(std::move(settings));
            for (const mode what : {mode::latency, mode::churn, mode::idle}) {
                plan one = through(address, over, what);
                one.connections = 3;
                check_good(one);
            }
            for (const direction way : {direction::up, direction::down, direction::both}) {
                plan bulk = through(address, over, mode::bulk);
                bulk.direction = way;
                bulk.connections = 2;
                check_good(bulk);
            }
        }
        CHECK(there.served().wrong == 0);
    }

    TEST_CASE("a changed or missing byte of the tunnel is found") {
        const backend there(on_free_port());
        auto settings = server_for(there.address(), config::carrier::tcp);
        const auto address = settings.listen;
        const tunnel_server server(std::move(settings));
        for (const harm what : {harm::flip, harm::lose, harm::end, harm::reset}) {
            const meddler between(address, {true, 400'000, what});
            plan bulk = through(between.address(), config::carrier::tcp, mode::bulk);
            bulk.direction = direction::down;
            CHECK(contains(integrity_text(run(bulk)), "failed: "));
        }
    }

    TEST_CASE("what is wrong with the tunnel is said") {
        auto settings = server_for(free_address(), config::carrier::tcp);
        const auto address = settings.listen;
        const tunnel_server server(std::move(settings));
        plan lost = through(address, config::carrier::tcp, mode::bulk);
        CHECK(contains(first_reason(lost), "backend unreachable"));
        lost.to.tunnel->service = "other";
        CHECK(contains(first_reason(lost), "no such service"));
        lost.to.tunnel->connect.front().place = free_address();
        CHECK(contains(first_reason(lost), "Connection refused"));
    }
}
