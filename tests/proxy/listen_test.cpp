// Listening places, and the acceptor behind them.
#include "proxy/daemon/listen.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "proxy/daemon/accept.hpp"
#include "proxy/observe/log.hpp"
#include "tests/proxy/loop.hpp"
#include "tests/proxy/peer.hpp"

using namespace culvert::tests;
using culvert::config::endpoint;
using culvert::daemon::acceptor;

namespace {

namespace fs = std::filesystem;

struct folder {
    folder() {
        std::string name = (fs::temp_directory_path() / "culvert-test-XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    ~folder() { fs::remove_all(path); }
    fs::path path;
};

endpoint at_path(const fs::path& path) {
    return {{}, 0, path.string()};
}

auto listen_at(const endpoint& place) {
    culvert::daemon::sockets_at_hand none;
    return culvert::daemon::listen_on(place, none);
}

int connect_unix(const fs::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    ::close(fd);
    return -1;
}

bool has_ipv6() {
    const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    const bool ok = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return ok;
}

// No descriptors above those in use, plus `spare`, while it lives.
class few_descriptors {
  public:
    explicit few_descriptors(int spare) {
        // The sanitizers look at each new type of object through a pipe: they need to know those
        // of the log while there still are descriptors.
        culvert::observe::log(culvert::observe::log_level::warning, "few descriptors from now on");
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int next = ::dup(0);  // the lowest free number
        ::close(next);
        rlimit now = before_;
        now.rlim_cur = static_cast<rlim_t>(next + spare);
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    ~few_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

// An acceptor in a loop, and what it took.
struct accepting {
    explicit accepting(std::uint16_t port) {
        auto sockets = listen_at({"127.0.0.1", port, {}});
        REQUIRE(sockets.has_value());
        accepts = std::make_shared<acceptor>(world.executor(), std::move(sockets->front()),
                                             into(taken), [this] { return taken.size() < room; });
        world.spawn(accepts->run(), accepts, end);
    }
    ~accepting() {
        for (const int fd : taken) ::close(fd);
    }
    culvert::daemon::destination into(std::vector<int>& list) {
        return {"test", [this, &list](culvert::daemon::descriptor fd) {
                    if (no_memory) throw std::bad_alloc();
                    list.push_back(fd.release());
                }};
    }
    std::vector<int> taken;
    std::size_t room = 1'000;
    bool no_memory = false;
    ending end;
    loop world;
    std::shared_ptr<acceptor> accepts;
};

}  // namespace

TEST_SUITE("listening") {
    TEST_CASE("a port that is taken: an error that says so") {
        const listener other;
        const auto got = listen_at({"127.0.0.1", other.port(), {}});
        REQUIRE_FALSE(got.has_value());
        CHECK(got.error().text.find("cannot listen on 127.0.0.1:" + std::to_string(other.port())) !=
              std::string::npos);
        CHECK(got.error().text.find("another process") != std::string::npos);
    }

    TEST_CASE("a name that does not resolve, an address of others") {
        CHECK_FALSE(listen_at({"no-such-host.invalid", free_port(), {}}).has_value());
        CHECK_FALSE(listen_at({"192.0.2.1", free_port(), {}}).has_value());
    }

    TEST_CASE("the same port of both families; IPv6 is IPv6 alone") {
        if (!has_ipv6()) return;
        const std::uint16_t port = free_port();
        const auto v6 = listen_at({"::1", port, {}});
        REQUIRE(v6.has_value());
        int only = 0;
        socklen_t size = sizeof only;
        ::getsockopt(v6->front().fd(), IPPROTO_IPV6, IPV6_V6ONLY, &only, &size);
        CHECK(only == 1);
        const auto v4 = listen_at({"127.0.0.1", port, {}});
        CHECK(v4.has_value());
    }

    TEST_CASE("descriptors do not block, and are not inherited") {
        const auto got = listen_at({"127.0.0.1", free_port(), {}});
        REQUIRE(got.has_value());
        CHECK((::fcntl(got->front().fd(), F_GETFL) & O_NONBLOCK) != 0);
        CHECK((::fcntl(got->front().fd(), F_GETFD) & FD_CLOEXEC) != 0);
    }

    TEST_CASE("a unix path: there while it lives, gone afterwards") {
        const folder f;
        const auto path = f.path / "s";
        {
            const auto got = listen_at(at_path(path));
            REQUIRE(got.has_value());
            peer client(connect_unix(path));
            CHECK(client.fd() >= 0);
        }
        CHECK_FALSE(fs::exists(path));
    }

    TEST_CASE("a leftover of a dead process is replaced") {
        const folder f;
        const auto path = f.path / "s";
        {
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            path.string().copy(address.sun_path, sizeof address.sun_path - 1);
            const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            REQUIRE(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
            ::close(dead);
        }
        REQUIRE(fs::exists(path));
        const auto got = listen_at(at_path(path));
        REQUIRE(got.has_value());
        peer client(connect_unix(path));
        CHECK(client.fd() >= 0);
    }

    TEST_CASE("who goes removes its own unix socket, not that of its successor") {
        const folder f;
        const auto path = f.path / "s";
        auto before = listen_at(at_path(path));
        REQUIRE(before.has_value());
        fs::remove(path);
        const auto after = listen_at(at_path(path));
        REQUIRE(after.has_value());
        before->clear();
        peer client(connect_unix(path));
        CHECK(client.fd() >= 0);
    }

    TEST_CASE("a live unix socket is not stolen, nor removed by whoever failed") {
        const folder f;
        const auto path = f.path / "s";
        const auto first = listen_at(at_path(path));
        REQUIRE(first.has_value());
        CHECK_FALSE(listen_at(at_path(path)).has_value());
        peer client(connect_unix(path));
        CHECK(client.fd() >= 0);
    }

    TEST_CASE("a file that is no socket is not touched; a missing folder is an error") {
        const folder f;
        const auto path = f.path / "file";
        { const peer file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); }
        CHECK_FALSE(listen_at(at_path(path)).has_value());
        CHECK(fs::is_regular_file(path));
        CHECK_FALSE(listen_at(at_path(f.path / "no" / "s")).has_value());
    }
}

TEST_SUITE("sockets at hand") {
    using culvert::daemon::descriptor;
    using culvert::daemon::sockets_at_hand;

    TEST_CASE("one that listens at the place is taken, with what waits in its queue") {
        const std::uint16_t port = free_port();
        auto before = listen_at({"127.0.0.1", port, {}});
        peer waits(connect_to(port));
        sockets_at_hand at_hand;
        CHECK(at_hand.add(descriptor(::dup(before->front().fd())),
                          sockets_at_hand::path_belongs_to::others));
        const auto after = culvert::daemon::listen_on({"127.0.0.1", port, {}}, at_hand);
        REQUIRE(after.has_value());
        before->clear();
        CHECK((::fcntl(after->front().fd(), F_GETFL) & O_NONBLOCK) != 0);
        CHECK((::fcntl(after->front().fd(), F_GETFD) & FD_CLOEXEC) != 0);
        const descriptor accepted(::accept(after->front().fd(), nullptr, nullptr));
        CHECK(accepted.get() >= 0);
        CHECK(at_hand.drop_rest().empty());
    }

    TEST_CASE("what does not listen, and what nobody wants, is closed") {
        sockets_at_hand at_hand;
        CHECK_FALSE(at_hand.add(descriptor(::dup(0)), sockets_at_hand::path_belongs_to::us));
        const auto [one, other] = tcp_pair();
        CHECK_FALSE(at_hand.add(descriptor(one), sockets_at_hand::path_belongs_to::us));
        ::close(other);
        const std::uint16_t port = free_port();
        auto open = listen_at({"127.0.0.1", port, {}});
        CHECK(at_hand.add(descriptor(::dup(open->front().fd())),
                          sockets_at_hand::path_belongs_to::us));
        open->clear();
        CHECK(at_hand.drop_rest() == std::vector<std::string>{"127.0.0.1:" + std::to_string(port)});
        CHECK(listen_at({"127.0.0.1", port, {}}).has_value());
    }

    TEST_CASE("a path goes with whoever it belongs to in the end") {
        const folder f;
        const auto path = f.path / "s";
        auto before = listen_at(at_path(path));
        const auto hand_on = [&](sockets_at_hand::path_belongs_to whom) {
            sockets_at_hand at_hand;
            at_hand.add(descriptor(::dup(before->front().fd())), whom);
            return culvert::daemon::listen_on(at_path(path), at_hand);
        };
        hand_on(sockets_at_hand::path_belongs_to::others)->clear();
        CHECK(fs::exists(path));
        auto refused = hand_on(sockets_at_hand::path_belongs_to::us);
        refused->front().give_back();
        refused->clear();
        CHECK(fs::exists(path));
        auto after = hand_on(sockets_at_hand::path_belongs_to::us);
        before->front().leave_path();
        before->clear();
        CHECK(fs::exists(path));
        after->clear();
        CHECK_FALSE(fs::exists(path));
    }
}

TEST_SUITE("acceptor") {
    TEST_CASE("takes all, in any number, and ends when it is closed") {
        const std::uint16_t port = free_port();
        accepting a(port);
        std::vector<peer> clients;
        for (int i = 0; i < 200; ++i) clients.emplace_back(connect_to(port));
        CHECK(a.world.until([&] { return a.taken.size() == 200; }));
        CHECK((::fcntl(a.taken[0], F_GETFL) & O_NONBLOCK) != 0);
        CHECK((::fcntl(a.taken[0], F_GETFD) & FD_CLOEXEC) != 0);
        a.accepts->close();
        CHECK(a.world.until([&] { return a.end.done; }, 1s));
        CHECK(a.end.clean());
        peer late(connect_to(port));
        CHECK(a.world.until([&] { return late.pump(), late.over(); }, 1s));
        CHECK(late.error == ECONNREFUSED);
    }

    TEST_CASE("without descriptors it waits instead of spinning, and then goes on") {
        const std::uint16_t port = free_port();
        accepting a(port);
        std::vector<peer> clients;
        for (int i = 0; i < 12; ++i) clients.emplace_back(connect_to(port));
        {
            const few_descriptors few(5);
            const auto cpu = std::clock();
            a.world.run_for(500ms);
            CHECK(a.taken.size() == 5);
            CHECK_FALSE(a.end.done);
            // The loop of the test itself wakes up 500 times a second.
            CHECK(static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC < 0.25);
        }
        CHECK(a.world.until([&] { return a.taken.size() == 12; }, 2s));
    }

    TEST_CASE("what comes after a redirection goes there") {
        const std::uint16_t port = free_port();
        accepting a(port);
        std::vector<int> elsewhere;
        peer first(connect_to(port));
        CHECK(a.world.until([&] { return a.taken.size() == 1; }));
        a.accepts->redirect(a.into(elsewhere));
        peer second(connect_to(port));
        CHECK(a.world.until([&] { return elsewhere.size() == 1; }));
        CHECK(a.taken.size() == 1);
        for (const int fd : elsewhere) ::close(fd);
    }

    TEST_CASE("while there is no room, connections stay in the queue") {
        const std::uint16_t port = free_port();
        accepting a(port);
        a.room = 3;
        std::vector<peer> clients;
        for (int i = 0; i < 8; ++i) clients.emplace_back(connect_to(port));
        a.world.run_for(100ms);
        CHECK(a.taken.size() == 3);
        for (peer& c : clients) {
            c.pump();
            CHECK_FALSE(c.over());
        }
        a.room = 8;
        CHECK(a.world.until([&] { return a.taken.size() == 8; }, 2s));
    }

    TEST_CASE("one for whom there is no memory is closed, and others are accepted later") {
        const std::uint16_t port = free_port();
        accepting a(port);
        a.no_memory = true;
        peer first(connect_to(port));
        CHECK(a.world.until([&] { return first.pump(), first.over(); }));
        a.no_memory = false;
        peer second(connect_to(port));
        CHECK(a.world.until([&] { return a.taken.size() == 1; }, 2s));
        CHECK_FALSE(a.end.done);
    }

    TEST_CASE("it can be closed while it waits for descriptors") {
        const std::uint16_t port = free_port();
        accepting a(port);
        peer client(connect_to(port));
        const few_descriptors few(0);
        a.world.run_for(100ms);
        CHECK(a.taken.empty());
        a.accepts->close();
        CHECK(a.world.until([&] { return a.end.done; }, 1s));
    }
}
