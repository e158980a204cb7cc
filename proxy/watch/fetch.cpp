#include "proxy/watch/fetch.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "config/quote.hpp"
#include "proxy/daemon/descriptor.hpp"
#include "proxy/watch/failure.hpp"

namespace culvert::watch {
namespace {

using config::endpoint;
using daemon::descriptor;
using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{3};
constexpr std::size_t largest_answer = std::size_t{64} << 20;

[[noreturn]] void fail(const endpoint& from, const std::string& why) {
    throw no_answer(from.text() + ": " + why);
}

[[noreturn]] void fail(const endpoint& from, int error) {
    const bool nobody = error == ECONNREFUSED || error == ENOENT;
    fail(from, std::string(std::strerror(error)) + (nobody ? ": does the daemon run?" : ""));
}

struct address {
    sockaddr_storage storage{};
    socklen_t size = 0;
};

address unix_address(const endpoint& to) {
    address out;
    auto& filled = reinterpret_cast<sockaddr_un&>(out.storage);
    if (to.unix_path.size() >= sizeof filled.sun_path) fail(to, ENAMETOOLONG);
    filled.sun_family = AF_UNIX;
    to.unix_path.copy(filled.sun_path, to.unix_path.size());
    out.size = sizeof filled;
    return out;
}

// All addresses of the name; "localhost" is two.
std::vector<address> host_addresses(const endpoint& to) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error =
        ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
    if (error != 0) fail(to, ::gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> first(found, &::freeaddrinfo);
    std::vector<address> out;
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        address& added = out.emplace_back();
        std::memcpy(&added.storage, one->ai_addr, one->ai_addrlen);
        added.size = one->ai_addrlen;
    }
    return out;
}

class connection {
  public:
    explicit connection(const endpoint& to) : to_(to), until_(clock::now() + patience) {
        int error = 0;
        for (const address& at : to.is_unix() ? std::vector{unix_address(to)} : host_addresses(to))
            if ((error = connect(at)) == 0) return;
        fail(to_, error);
    }

    void say(std::string_view text) {
        while (!text.empty()) {
            const ssize_t sent = ::send(socket_->get(), text.data(), text.size(), MSG_NOSIGNAL);
            if (sent >= 0)
                text.remove_prefix(static_cast<std::size_t>(sent));
            else
                wait_after_error(POLLOUT);
        }
    }

    // All until the other end has said everything.
    std::string hear() {
        std::string all;
        std::array<char, 16'384> piece{};
        for (;;) {
            const ssize_t came = ::recv(socket_->get(), piece.data(), piece.size(), 0);
            if (came == 0) return all;
            if (came < 0)
                wait_after_error(POLLIN);
            else
                all.append(piece.data(), static_cast<std::size_t>(came));
            if (all.size() > largest_answer) fail(to_, "the answer does not end");
        }
    }

  private:
    // 0, or why not.
    int connect(const address& at) {
        socket_.emplace(
            ::socket(at.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        const auto* const where = reinterpret_cast<const sockaddr*>(&at.storage);
        if (::connect(socket_->get(), where, at.size) == 0) return 0;
        if (errno != EINPROGRESS) return errno;
        wait(POLLOUT);
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(socket_->get(), SOL_SOCKET, SO_ERROR, &error, &size);
        return error;
    }

    void wait_after_error(short what) {
        if (errno != EAGAIN && errno != EINTR) fail(to_, errno);
        wait(what);
    }

    void wait(short what) {
        using std::chrono::milliseconds;
        for (;;) {
            const auto left = std::chrono::ceil<milliseconds>(until_ - clock::now());
            pollfd one{socket_->get(), what, 0};
            const int ready =
                left.count() > 0 ? ::poll(&one, 1, static_cast<int>(left.count())) : 0;
            if (ready > 0) return;
            if (ready == 0) fail(to_, "no answer within 3 s");
            if (errno != EINTR) fail(to_, errno);
        }
    }

    const endpoint& to_;
    const clock::time_point until_;
    std::optional<descriptor> socket_;
};

// The value of a header; none when it is not there.
std::optional<std::string_view> header(std::string_view head, std::string_view name) {
    while (!head.empty()) {
        const std::size_t end = std::min(head.find("\r\n"), head.size());
        const std::string_view line = head.substr(0, end);
        if (line.size() > name.size() && line[name.size()] == ':' &&
            ::strncasecmp(line.data(), name.data(), name.size()) == 0) {
            std::string_view value = line.substr(name.size() + 1);
            while (value.starts_with(' ')) value.remove_prefix(1);
            return value;
        }
        head.remove_prefix(std::min(end + 2, head.size()));
    }
    return {};
}

// An answer that was cut is shorter than it says.
bool is_whole(std::string_view head, std::string_view body) {
    const auto told = header(head, "Content-Length");
    if (!told) return !header(head, "Transfer-Encoding");
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(told->data(), told->data() + told->size(), size);
    return error == std::errc{} && size == body.size();
}

}  // namespace

std::string fetch(const endpoint& from, const std::string& path) {
    connection to(from);
    const std::string host = from.is_unix() ? "localhost" : from.text();
    to.say("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    const std::string answer = to.hear();
    const std::size_t end = answer.find("\r\n\r\n");
    if (!answer.starts_with("HTTP/1.") || end == answer.npos)
        fail(from, "something answers that is not culvert's admin listener");
    const std::string line = answer.substr(0, answer.find("\r\n"));
    if (line.find(" 200") != std::strlen("HTTP/1.1"))
        fail(from, path + ": it answers " + config::quote(line));
    std::string body = answer.substr(end + 4);
    if (!is_whole(std::string_view(answer).substr(0, end), body)) fail(from, "the answer was cut");
    return body;
}

}  // namespace culvert::watch
