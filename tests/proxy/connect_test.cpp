// Ways to a place: several addresses, none that answers, and giving up on the way.
#include "proxy/relay/connect.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "proxy/relay/race.hpp"
#include "tests/proxy/fake_names.hpp"
#include "tests/proxy/servers.hpp"

using namespace culvert::tests;
using steady = culvert::carrier::clock;
using culvert::carrier::error_code;
using culvert::relay::cancellation;
using culvert::relay::closing;
using culvert::relay::connected;
namespace asio = boost::asio;

namespace {

// Takes no connection: what comes to it goes nowhere, as behind a firewall that drops.
class black_hole {
  public:
    black_hole(const char* address, std::uint16_t port) {
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_port = htons(port);
        ::inet_pton(AF_INET, address, &place.sin_addr);
        const auto* generic = reinterpret_cast<const sockaddr*>(&place);
        const int on = 1;
        fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
        ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        REQUIRE(::bind(fd_, generic, sizeof place) == 0);
        REQUIRE(::listen(fd_, 0) == 0);
        for (int i = 0; i < 4; ++i) {
            queue_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
            ::connect(queue_.back().fd(), generic, sizeof place);
        }
    }
    black_hole(const black_hole&) = delete;
    black_hole& operator=(const black_hole&) = delete;
    ~black_hole() { ::close(fd_); }

  private:
    int fd_ = -1;
    std::vector<peer> queue_;
};

struct traveller {
    culvert::carrier::awaitable<void> run(culvert::config::endpoint to, steady::duration time) {
        connected got = co_await culvert::relay::connect(world.executor(), to, steady::now() + time,
                                                         how, names, &cancel);
        result.emplace(std::move(got));
    }
    void begin(const culvert::config::endpoint& to, steady::duration time = 20s) {
        place = to;
        began = steady::now();
        world.spawn(run(to, time), end);
    }
    connected& arrive() {
        REQUIRE(world.until([&] { return result.has_value(); }, 30s));
        CHECK(end.other == "");
        return *result;
    }
    connected& go(const culvert::config::endpoint& to, steady::duration time = 20s) {
        begin(to, time);
        return arrive();
    }
    [[nodiscard]] std::string peer_name() { return culvert::carrier::peer_name(result->socket); }

    fake_names service;
    culvert::relay::resolver names{service.lookup()};
    ending end;
    cancellation cancel;
    closing how = closing::quiet;
    loop world;
    std::optional<connected> result;  // its socket needs the loop
    culvert::config::endpoint place;
    culvert::carrier::time_point began;
};

std::string text_of(const std::vector<culvert::relay::stream_endpoint>& all) {
    std::string text;
    for (const auto& one : all) text += one.protocol().family() == AF_INET6 ? "6" : "4";
    return text;
}

}  // namespace

TEST_SUITE("connect") {
    TEST_CASE("the families take turns, in their order") {
        const auto shape = [](const std::vector<std::string>& addresses) {
            culvert::relay::ip_addresses all;
            for (const auto& one : addresses) all.push_back(asio::ip::make_address(one));
            return text_of(culvert::relay::interleaved(all, 1));
        };
        CHECK(shape({}) == "");
        CHECK(shape({"::1", "::2", "::3", "10.0.0.1", "10.0.0.2"}) == "64646");
        CHECK(shape({"10.0.0.1", "::1", "::2"}) == "466");
        CHECK(shape({"10.0.0.1", "10.0.0.2"}) == "44");
    }

    TEST_CASE("the first address answers: the others hear nothing") {
        traveller t;
        const listener first;
        t.service.answer("host", {"127.0.0.1", "127.0.0.2"});
        const black_hole second("127.0.0.2", first.port());
        connected& got = t.go({"host", first.port(), {}});
        CHECK_FALSE(got.ec);
        CHECK(got.resolved);
        CHECK(t.peer_name() == "127.0.0.1:" + std::to_string(first.port()));
    }

    TEST_CASE("an address that refuses costs nothing, one that swallows costs 250 ms") {
        for (const bool refuses : {true, false}) {
            traveller t;
            const listener second;
            std::optional<black_hole> first;
            if (!refuses) first.emplace("127.0.0.2", second.port());
            t.service.answer("host", {"127.0.0.2", "127.0.0.1"});
            CHECK_FALSE(t.go({"host", second.port(), {}}).ec);
            CHECK(t.peer_name() == "127.0.0.1:" + std::to_string(second.port()));
            const auto took = steady::now() - t.began;
            CHECK(took < (refuses ? 200ms : 5s));
            if (!refuses) CHECK(took >= culvert::relay::race::head_start);
        }
    }

    TEST_CASE("no address answers: the time is for all of them together") {
        traveller t;
        const std::uint16_t port = free_port();
        const black_hole first("127.0.0.2", port);
        const black_hole second("127.0.0.3", port);
        t.service.answer("host", {"127.0.0.2", "127.0.0.3"});
        CHECK(t.go({"host", port, {}}, 1s).ec == asio::error::timed_out);
        CHECK(t.result->resolved);
        CHECK(steady::now() - t.began >= 1s);
        CHECK(steady::now() - t.began < 5s);
    }

    TEST_CASE("all addresses refuse: so does the name") {
        traveller t;
        t.service.answer("host", {"127.0.0.2", "127.0.0.1", "::1"});
        CHECK(t.go({"host", free_port(), {}}).ec == asio::error::connection_refused);
    }

    TEST_CASE("the time counts from the lookup on") {
        traveller t;
        t.service.hang("host");
        connected& got = t.go({"host", 1, {}}, 300ms);
        CHECK(got.ec == asio::error::timed_out);
        CHECK_FALSE(got.resolved);
        CHECK(steady::now() - t.began < 5s);
    }

    TEST_CASE("a name that does not resolve") {
        traveller t;
        t.service.fail("host");
        connected& got = t.go({"host", 1, {}});
        CHECK(got.ec == asio::error::host_not_found_try_again);
        CHECK_FALSE(got.resolved);
    }

    TEST_CASE("whoever loses interest waits no longer, wherever it stands") {
        const std::uint16_t port = free_port();
        const black_hole first("127.0.0.2", port);
        const black_hole second("127.0.0.3", port);
        for (const std::string host : {"hangs", "127.0.0.2", "both"}) {
            for (const bool before : {true, false}) {
                CAPTURE(host);
                traveller t;
                t.service.hang("hangs");
                t.service.answer("both", {"127.0.0.2", "127.0.0.3"});
                if (before) t.cancel.request();
                t.begin({host, port, {}});
                if (!before) t.world.run_for(50ms);
                CHECK((before || !t.result));
                t.cancel.request();
                CHECK(t.arrive().ec == asio::error::operation_aborted);
                CHECK(steady::now() - t.began < 10s);
            }
        }
    }

    TEST_CASE("bytes and a reset that come before the connection is noticed") {
        traveller t;
        const listener backend;
        t.how = closing::reset;
        // Not through the loop: by the time somebody looks, all of it has happened.
        culvert::relay::attempt way(
            t.world.executor(),
            asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), backend.port()),
            closing::reset);
        REQUIRE_FALSE(way.begin());
        peer service(backend.accept());
        service.send("sorry");
        service.reset();
        CHECK_FALSE(way.settle());
        octets memory(100);
        const auto got = culvert::carrier::try_read(way.socket(), memory);
        CHECK(got.size == 5);
        CHECK(culvert::carrier::try_read(way.socket(), memory).ec == asio::error::connection_reset);
    }

    TEST_CASE("a unix socket whose queue is full is waited for") {
        traveller t;
        const auto folder = std::filesystem::temp_directory_path() /
                            ("culvert-connect-test-" + std::to_string(::getpid()));
        std::filesystem::create_directory(folder);
        const std::string path = folder / "service.sock";
        sockaddr_un place{};
        place.sun_family = AF_UNIX;
        path.copy(place.sun_path, sizeof place.sun_path - 1);
        const auto* generic = reinterpret_cast<const sockaddr*>(&place);
        const peer service(::socket(AF_UNIX, SOCK_STREAM, 0));
        REQUIRE(::bind(service.fd(), generic, sizeof place) == 0);
        REQUIRE(::listen(service.fd(), 0) == 0);
        std::vector<peer> queue;
        for (int i = 0; i < 4; ++i) {
            queue.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
            ::connect(queue.back().fd(), generic, sizeof place);
        }
        t.begin({"", 0, path});
        t.world.run_for(100ms);
        CHECK_FALSE(t.result);
        while (!t.result) {
            const int fd = ::accept4(service.fd(), nullptr, nullptr, SOCK_NONBLOCK);
            if (fd >= 0) ::close(fd);
            REQUIRE(t.world.until([&] { return fd >= 0 || t.result; }));
            t.world.run_for(30ms);
        }
        CHECK_FALSE(t.arrive().ec);
        CHECK(t.peer_name().starts_with("unix (uid "));
        std::filesystem::remove_all(folder);
    }
}
