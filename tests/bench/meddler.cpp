#include "tests/bench/meddler.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "bench/listener.hpp"
#include "tests/bench/free_port.hpp"

namespace culvert::load::testing {
namespace {

using bytes = std::span<std::uint8_t>;

int connect_to(const config::endpoint& to) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(to.port);
    ::inet_pton(AF_INET, to.host.c_str(), &address.sin_addr);
    ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return fd;
}

void send_all(int fd, bytes data) {
    while (!data.empty()) {
        const ssize_t done = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL);
        if (done <= 0) return;
        data = data.subspan(static_cast<std::size_t>(done));
    }
}

// Both peers get a reset now, and whoever waits on one of the sockets gets an error. By the bare
// system call: ThreadSanitizer takes connect() for the birth of a descriptor that nobody else uses.
void reset_both(int a, int b) {
    sockaddr nowhere{};
    nowhere.sa_family = AF_UNSPEC;
    for (const int fd : {a, b}) ::syscall(SYS_connect, fd, &nowhere, sizeof nowhere);
}

// One direction.
struct pump {
    int from;
    int to;
    std::optional<mischief> plan;
    std::uint64_t passed = 0;

    void run() {
        std::array<std::uint8_t, 65'536> memory;
        for (bool going = true; going;) {
            const ssize_t got = ::recv(from, memory.data(), memory.size(), 0);
            if (got <= 0) break;
            const auto data = bytes(memory).first(static_cast<std::size_t>(got));
            const bool due = plan && plan->offset < passed + data.size();
            going = due ? do_harm(data) : pass(data);
        }
        ::shutdown(to, SHUT_WR);
    }

    bool pass(bytes data) {
        send_all(to, data);
        passed += data.size();
        return true;
    }

    // False when this is the end of the connection.
    bool do_harm(bytes data) {
        const auto at = static_cast<std::size_t>(plan->offset - std::min(plan->offset, passed));
        const harm what = plan->harm;
        if (what == harm::swallow) return true;
        plan.reset();
        send_all(to, data.first(at));
        if (what == harm::reset) {
            reset_both(from, to);
            return false;
        }
        if (what == harm::end) {
            ::shutdown(to, SHUT_WR);
            plan = mischief{false, 0, harm::swallow};  // a sender that was stuck would hold us
            return true;
        }
        if (what == harm::flip) data[at] ^= 0x10;
        if (what == harm::repeat) send_all(to, data.subspan(at, 1));
        return pass(data.subspan(what == harm::lose ? at + 1 : at));
    }
};

}  // namespace

meddler::meddler(config::endpoint target, mischief plan) : target_(std::move(target)), plan_(plan) {
    const listener made = listen_at(free_address());
    listening_ = made.descriptor;
    address_ = made.address;
    thread_ = std::thread([this] { accept_all(); });
}

meddler::~meddler() {
    ::shutdown(listening_, SHUT_RDWR);  // ends accept_all()
    thread_.join();
    ::close(listening_);
}

void meddler::accept_all() {
    for (;;) {
        pollfd ready{listening_, POLLIN, 0};
        ::poll(&ready, 1, -1);
        const int client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) return;
        relay(client);
    }
}

void meddler::relay(int client) const {
    const int server = connect_to(target_);
    pump up{client, server, plan_.down ? std::nullopt : std::optional(plan_)};
    pump down{server, client, plan_.down ? std::optional(plan_) : std::nullopt};
    std::thread other([&down] { down.run(); });
    up.run();
    other.join();
    ::close(client);
    ::close(server);
}

}  // namespace culvert::load::testing
