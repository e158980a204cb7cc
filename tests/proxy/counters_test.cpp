// What is counted, by whom, and what a reader makes of it.
#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "proxy/observe/process.hpp"
#include "proxy/observe/registry.hpp"

using namespace culvert::observe;
using namespace std::chrono_literals;

namespace {

section_info server(const std::string& name, std::vector<std::string> services = {"main"}) {
    section_info info;
    info.name = name;
    for (auto& service : services) info.services.push_back({service, {service + ":1"}});
    return info;
}

section_info client(const std::string& name) {
    section_info info;
    info.what = section_info::kind::client;
    info.name = name;
    info.service = "main";
    return info;
}

session_report ended(const std::string& reason, bool failed = true) {
    session_report report;
    report.section = "server.s";
    report.reason = reason;
    report.failed = failed;
    return report;
}

status read(registry& from) {
    status now;
    from.read(now);
    return now;
}

}  // namespace

TEST_SUITE("counters") {
    TEST_CASE("threads count on their own, and nothing is lost") {
        constexpr std::size_t threads = 4;
        constexpr std::uint64_t rounds = 100'000;
        registry all(threads);
        const auto section = all.section(server("s"));
        std::vector<std::thread> running;
        for (std::size_t t = 0; t < threads; ++t)
            running.emplace_back([&, t] {
                meter counts;
                counts.begin(section->service("main", t), &section->client("c", t));
                for (std::uint64_t i = 0; i < rounds; ++i) {
                    counts.to_tunnel(1);
                    counts.from_tunnel(2);
                }
            });
        // A reader meanwhile sees numbers that only rise.
        std::uint64_t before = 0;
        for (int i = 0; i < 100; ++i) {
            const auto now = section->read().to_tunnel;
            CHECK(now >= before);
            before = now;
        }
        for (auto& one : running) one.join();
        const section_status now = section->read();
        CHECK(now.to_tunnel == threads * rounds);
        CHECK(now.from_tunnel == 2 * threads * rounds);
        REQUIRE(now.services.size() == 1);
        CHECK(now.services[0].sessions_total == threads);
        CHECK(now.services[0].sessions == 0);
        REQUIRE(now.clients.size() == 1);
        CHECK(now.clients[0].name == "c");
        CHECK(now.clients[0].to_tunnel == threads * rounds);
    }

    TEST_CASE("a session counts while it lives") {
        section_counters section(client("c"));
        {
            meter counts;
            CHECK(section.read().sessions == 0);
            counts.begin(section.service("main", 0));
            CHECK(section.read().sessions == 1);
            meter never_begun;
        }
        CHECK(section.read().sessions == 0);
        CHECK(section.read().sessions_total == 1);
    }

    TEST_CASE("what is said again on another tunnel counts once") {
        section_counters section(client("c"));
        meter counts;
        counts.begin(section.service("main", 0));
        counts.to_tunnel(100);
        counts.begin_anew();
        counts.to_tunnel(30);  // and this one fails too
        CHECK(section.read().to_tunnel == 100);
        counts.begin_anew();
        counts.to_tunnel(60);
        counts.to_tunnel(60);
        CHECK(section.read().to_tunnel == 120);
        counts.to_tunnel(5);
        CHECK(section.read().to_tunnel == 125);
    }

    TEST_CASE("handshakes fall into buckets, the ends included") {
        section_counters section(server("s"), 2);
        section.handshakes(0).add(400us);
        section.handshakes(0).add(500us);
        section.handshakes(1).add(501us);
        section.handshakes(1).add(10s);
        section.handshakes(1).add(11s);
        const handshake_status times = section.read().handshake;
        CHECK(times.count == 5);
        CHECK(times.at_most[0] == 2);
        CHECK(times.at_most[1] == 3);
        CHECK(times.at_most[12] == 3);
        CHECK(times.at_most[13] == 4);
        CHECK(times.sum_s == doctest::Approx(21.001401));
    }

    TEST_CASE("strangers, proven and opened ones") {
        section_counters section(server("s"));
        connection_counters& of = section.connections(0);
        for (int i = 0; i < 5; ++i) of.accepted.add();
        of.proven.add();
        of.proven.add();
        of.gone_unproven.add();
        of.began_waiting.add();
        of.opened.add();
        section.handshake_failed("wrong_key");
        section.evicted(3);
        section.accept_failed();
        const section_status now = section.read();
        CHECK(now.connections_total == 5);
        CHECK(now.strangers == 2);
        CHECK(now.waiting == 1);
        CHECK(now.sessions == 1);
        CHECK(now.strangers_evicted_total == 3);
        CHECK(now.accept_errors_total == 1);
        REQUIRE(now.handshakes_failed.size() == 1);
        CHECK(now.handshakes_failed[0].name == "wrong_key");
    }

    TEST_CASE("ends by reason, and the last sessions") {
        registry all(1);
        const auto section = all.section(server("s"));
        all.publish({server("s")});
        for (int i = 0; i < 70; ++i) {
            auto report = ended(i % 7 == 0 ? "idle" : "clean", i % 7 == 0);
            report.to_tunnel = static_cast<std::uint64_t>(i);
            section->ended(report);
        }
        section->refused("too_many");
        const status now = read(all);
        const auto& ends = now.sections[0].ends;
        REQUIRE(ends.size() == 3);
        CHECK(ends[0].reason == "clean");
        CHECK(ends[0].count == 60);
        CHECK_FALSE(ends[0].failed);
        CHECK(ends[1].count == 10);
        CHECK(ends[1].failed);
        CHECK(ends[2].reason == "too_many");
        REQUIRE(now.recent.size() == recent_sessions::most);
        CHECK(now.recent.front().to_tunnel == 69);
        CHECK(now.recent.back().to_tunnel == 20);
    }

    TEST_CASE("a section that is made anew goes on counting, and tells what it is now") {
        registry all(1);
        const auto before = all.section(server("s", {"main", "old"}));
        before->service("old", 0).to_tunnel.add(7);
        const auto other = all.section(client("s"));
        CHECK(before != other);
        const auto after = all.section(server("s", {"main", "new"}));
        CHECK(before == after);
        all.publish({server("s", {"main", "new"}), client("s")});
        const status now = read(all);
        REQUIRE(now.sections.size() == 2);
        CHECK(now.sections[0].to_tunnel == 7);
        CHECK(now.sections[0].about.services[1].name == "new");
        CHECK(now.sections[0].services.size() == 3);
    }

    TEST_CASE("a section that is gone is told of until its last session has ended") {
        registry all(1);
        const auto gone = all.section(server("gone"));
        all.publish({server("gone"), server("stays")});
        gone->connections(0).opened.add();
        all.publish({server("fresh"), server("stays")});
        const status now = read(all);
        REQUIRE(now.sections.size() == 3);
        CHECK(now.sections[0].about.name == "fresh");
        CHECK(now.sections[2].about.name == "gone");
        gone->connections(0).closed.add();
        CHECK(read(all).sections.size() == 2);
        // It comes back as another.
        CHECK(all.section(server("gone")) != gone);
    }

    TEST_CASE("a section that did not come to be is not told of") {
        registry all(1);
        static_cast<void>(all.section(server("refused")));
        CHECK(read(all).sections.empty());
    }

    TEST_CASE("the process") {
        const process_reader reader;
        const process_status now = reader.read();
        CHECK(now.open_fds >= 5);  // three streams, and two of the reader's own
        CHECK(now.max_fds >= now.open_fds);
        CHECK(now.resident_bytes > 100'000);
        CHECK(now.virtual_bytes > now.resident_bytes);
        const process_reader second;
        CHECK(reader.read().open_fds == now.open_fds + 2);
    }
}
