// The status as text for Prometheus and as JSON: escapes, and where each number stands.
#include <doctest/doctest.h>

#include <boost/json/parse.hpp>

#include "proxy/admin/answers.hpp"
#include "proxy/admin/host.hpp"
#include "proxy/observe/prometheus.hpp"
#include "proxy/observe/status_json.hpp"

using namespace culvert::observe;
namespace admin = culvert::admin;
namespace json = boost::json;

namespace {

status example() {
    status now;
    now.version = "1.2.3";
    now.protocol = "culvert/1";
    now.pid = 42;
    now.ready = true;
    now.threads = 2;
    now.kernels = {{"keccak", "avx512"}};
    now.uptime = std::chrono::milliseconds(1'500);
    section_status edge;
    edge.about.name = "edge";
    edge.about.carrier = "tcp";
    edge.about.services = {{"main", {"h:1", "h:2"}}, {"other", {"h:3"}}};
    edge.services = {{"gone", 1, 0, 5, 6}, {"main", 3, 2, 10, 20}, {"other", 0, 0, 0, 0}};
    edge.clients = {{"laptop", 3, 2, 10, 20}};
    edge.sessions = 2;
    edge.sessions_total = 4;
    edge.to_tunnel = 15;
    edge.from_tunnel = 26;
    edge.ends = {{"clean", false, 1}, {"idle", true, 1}};
    edge.handshakes_failed = {{"wrong_key", 2}, {"replay", 3}};
    edge.handshake.count = 4;
    edge.handshake.sum_s = 0.25;
    edge.handshake.at_most.fill(4);
    section_status app;
    app.about.what = section_info::kind::client;
    app.about.name = "app";
    app.about.connect = {"tcp://h:1"};
    app.about.pool = 8;
    app.pool_ready = 7;
    app.handshake.count = 1;
    now.sections = {edge, app};
    session_report last;
    last.section = "server.edge";
    last.who.peer = "\x1b[2J\xff\"\\";
    last.reason = "idle";
    last.failed = true;
    now.recent = {last};
    return now;
}

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_SUITE("status") {
    TEST_CASE("Prometheus: each number with its labels") {
        const std::string text = to_prometheus(example());
        for (const char* line :
             {"culvert_build_info{version=\"1.2.3\",protocol=\"culvert/1\"} 1",
              "culvert_kernel_info{primitive=\"keccak\",kernel=\"avx512\"} 1", "culvert_ready 1",
              "culvert_sessions{section=\"server.edge\"} 2",
              "culvert_session_ends_total{section=\"server.edge\",reason=\"idle\"} 1",
              "culvert_handshake_seconds_bucket{section=\"server.edge\",le=\"0.0005\"} 4",
              "culvert_handshake_seconds_bucket{section=\"server.edge\",le=\"+Inf\"} 4",
              "culvert_handshake_seconds_sum{section=\"server.edge\"} 0.25",
              "culvert_handshake_seconds_count{section=\"client.app\"} 1",
              "culvert_handshakes_failed_total{section=\"server.edge\",reason=\"replay\"} 3",
              "culvert_bytes_total{section=\"server.edge\",service=\"main\",direction=\"to_"
              "tunnel\"} "
              "10",
              "culvert_client_bytes_total{section=\"server.edge\",client=\"laptop\",direction="
              "\"from_tunnel\"} 20",
              "culvert_pool_ready{section=\"client.app\"} 7"}) {
            CAPTURE(line);
            CHECK(has_line(text, line));
        }
    }

    TEST_CASE("Prometheus: a label can't end its line") {
        status now = example();
        now.sections[0].clients[0].name = "a\"b\\c\nd";
        CHECK(to_prometheus(now).find("client=\"a\\\"b\\\\c\\nd\",") != std::string::npos);
    }

    TEST_CASE("JSON: what STATUS.md says") {
        const json::value all = json::parse(to_json(example()));
        CHECK(all.at("schema") == 1);
        CHECK(all.at("uptime_s") == 1.5);
        CHECK(all.at("kernels").at(0).at("kernel") == "avx512");
        const json::value& edge = all.at("servers").at(0);
        CHECK(edge.at("section") == "server.edge");
        CHECK(edge.at("bytes_to_clients") == 15);
        CHECK(edge.at("bytes_from_clients") == 26);
        CHECK(edge.at("handshakes_failed_total") == 5);
        // Those of the configuration first, in its order.
        CHECK(edge.at("services").at(0).at("name") == "main");
        CHECK(edge.at("services").at(0).at("targets").at(1) == "h:2");
        CHECK(edge.at("services").at(1).at("name") == "other");
        CHECK(edge.at("services").at(2).at("name") == "gone");
        CHECK(all.at("users").at(0).at("server") == "edge");
        CHECK(all.at("clients").at(0).at("pool_size") == 8);
        CHECK(all.at("ends").at(1).at("failed") == true);
        CHECK(all.at("handshake").at("count") == 5);
        CHECK(all.at("handshake").at("buckets").at(13).at("le_s") == 10);
        CHECK(all.at("recent").at(0).at("peer") == "\\x1b[2J\\xff\"\\");
    }

    TEST_CASE("answers by path") {
        int asked = 0;
        status now = example();
        const auto collect = [&] {
            ++asked;
            return now;
        };
        CHECK(admin::answer_to("/healthz", collect).body == "ok\n");
        CHECK(asked == 0);
        CHECK(admin::answer_to("/readyz", collect).status == 200);
        now.ready = false;
        CHECK(admin::answer_to("/readyz?verbose", collect).body == "starting\n");
        now.draining = true;
        CHECK(admin::answer_to("/readyz", collect).body == "draining\n");
        CHECK(admin::answer_to("/readyz", collect).status == 503);
        CHECK(admin::answer_to("/metrics", collect).type.starts_with("text/plain; version=0.0.4"));
        CHECK(admin::answer_to("/status.json", collect).type == "application/json");
        CHECK(admin::answer_to("/", collect).type == "text/html; charset=utf-8");
        for (const char* path : {"", "*", "/index.html/", "//", "/Metrics", "http://x/"})
            CHECK(admin::answer_to(path, collect).status == 404);
    }

    TEST_CASE("the page is in the program") {
        REQUIRE_FALSE(admin::assets().empty());
        for (const admin::asset& file : admin::assets()) {
            CAPTURE(file.path);
            CHECK(file.path.starts_with("/"));
            CHECK_FALSE(file.content.empty());
        }
    }

    TEST_CASE("hosts of the loopback") {
        for (const char* host : {"127.0.0.1", "127.0.0.1:80", "10.0.0.1:1", "localhost",
                                 "LocalHost:7780", "[::1]", "[::1]:7780", "admin.internal:1"})
            CHECK(admin::is_host_of_loopback(host, "admin.internal"));
        for (const char* host : {"", "evil.example", "evil.example:80", "localhost.evil.example",
                                 "localhost.", "127.0.0.1.evil.example", "127.0.0.1:80:evil",
                                 "127.0.0.1:evil", "[::1", "[evil]", "[::1]evil", "[::1]:x", "::1",
                                 "0x7f.1", "127.1", "a@localhost", " localhost", "admin.internal"})
            CHECK_FALSE(admin::is_host_of_loopback(host, ""));
        CHECK_FALSE(admin::is_host_of_loopback(std::string(5'000, '1'), ""));
    }
}
