#include "proxy/daemon/commander.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "proxy/daemon/command_messages.hpp"
#include "proxy/observe/log.hpp"

namespace culvert::daemon {
namespace {

constexpr timeval answer_time{60, 0};

void ask(int fd, std::string_view what) {
    if (const int error = command::send(fd, what); error != 0)
        throw std::runtime_error("the running daemon can't be asked: " +
                                 std::string(std::strerror(error)));
}

command::message answer_of(int fd) {
    command::message heard;
    const int error = command::receive(fd, heard);
    if (error == EAGAIN) throw std::runtime_error("the running daemon does not answer");
    if (error != 0) throw std::runtime_error("the running daemon has closed the control socket");
    return heard;
}

}  // namespace

std::optional<commander> commander::reach(const std::string& unix_path) {
    sockaddr_un address{};
    if (unix_path.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return std::nullopt;
    }
    address.sun_family = AF_UNIX;
    unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
    descriptor wire(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    if (wire.get() < 0 || ::connect(wire.get(), generic, sizeof address) != 0) return std::nullopt;
    ::setsockopt(wire.get(), SOL_SOCKET, SO_RCVTIMEO, &answer_time, sizeof answer_time);
    return commander(std::move(wire));
}

bool commander::reload() {
    ask(wire_.get(), command::reload);
    for (;;) {
        const command::message heard = answer_of(wire_.get());
        if (heard.word != command::line) return heard.word == command::done;
        observe::write_plain(heard.text);
    }
}

sockets_at_hand commander::take_over() {
    ask(wire_.get(), command::take_over);
    sockets_at_hand sockets;
    for (;;) {
        command::message heard = answer_of(wire_.get());
        if (heard.word == command::done) return sockets;
        if (heard.word != command::socket || !heard.with)
            throw std::runtime_error("the running daemon does not hand over its sockets");
        sockets.add(std::move(*heard.with), sockets_at_hand::path_belongs_to::us);
    }
}

void commander::release_it() {
    ask(wire_.get(), command::ready);
    if (answer_of(wire_.get()).word != command::done)
        throw std::runtime_error("the running daemon does not leave");
}

}  // namespace culvert::daemon
