#include "proxy/daemon/sockets_at_hand.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace culvert::daemon {
namespace {

// Of an address only what tells it from others: without padding, flow labels and what lies behind
// the end of a path.
std::string identity_of(const sockaddr* address, socklen_t size) {
    if (address->sa_family == AF_UNIX) {
        const auto* const path = reinterpret_cast<const sockaddr_un*>(address)->sun_path;
        const std::size_t room = size - offsetof(sockaddr_un, sun_path);
        const bool is_abstract = room > 0 && path[0] == '\0';
        return "unix:" + std::string(path, is_abstract ? room : ::strnlen(path, room));
    }
    char text[INET6_ADDRSTRLEN] = "";
    if (address->sa_family == AF_INET) {
        const auto& v4 = *reinterpret_cast<const sockaddr_in*>(address);
        ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
        return std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
    }
    if (address->sa_family == AF_INET6) {
        const auto& v6 = *reinterpret_cast<const sockaddr_in6*>(address);
        ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
        std::string out = "[" + std::string(text);
        if (v6.sin6_scope_id != 0) out += "%" + std::to_string(v6.sin6_scope_id);
        return out + "]:" + std::to_string(ntohs(v6.sin6_port));
    }
    return {};
}

std::string where(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::getsockname(fd, generic, &size) != 0) return {};
    return identity_of(generic, size);
}

bool is_listening(int fd) {
    int listening = 0;
    socklen_t size = sizeof listening;
    return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening != 0;
}

}  // namespace

bool sockets_at_hand::add(descriptor fd, path_belongs_to path) {
    std::string address = where(fd.get());
    if (address.empty() || !is_listening(fd.get())) return false;
    ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
    entries_.push_back({std::move(address), {std::move(fd), path}});
    return true;
}

void sockets_at_hand::add_all(sockets_at_hand others) {
    for (entry& other : others.entries_) entries_.push_back(std::move(other));
}

std::optional<sockets_at_hand::socket> sockets_at_hand::take(const sockaddr* address,
                                                             socklen_t size) {
    const std::string wanted = identity_of(address, size);
    const auto at = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const entry& e) { return e.address == wanted; });
    if (at == entries_.end() || at->held.fd.get() < 0) return std::nullopt;
    return std::optional<socket>(std::move(at->held));
}

std::vector<std::string> sockets_at_hand::drop_rest() {
    std::vector<std::string> dropped;
    for (const entry& e : entries_) {
        if (e.held.fd.get() < 0) continue;
        if (e.address.starts_with("unix:/") && e.held.path == path_belongs_to::us)
            ::unlink(e.address.c_str() + 5);
        dropped.push_back(e.address);
    }
    entries_.clear();
    return dropped;
}

}  // namespace culvert::daemon
