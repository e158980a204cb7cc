#include "proxy/daemon/command_messages.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace culvert::daemon::command {
namespace {

union rights {
    cmsghdr aligned;
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

}  // namespace

int send(int fd, std::string_view word, std::string_view text, int descriptor_with) {
    std::string all(word);
    if (!text.empty()) all += " " + std::string(text.substr(0, longest - word.size() - 1));
    iovec part{all.data(), all.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    rights control{};
    if (descriptor_with >= 0) {
        header.msg_control = control.bytes.data();
        header.msg_controllen = control.bytes.size();
        cmsghdr* const entry = CMSG_FIRSTHDR(&header);
        entry->cmsg_level = SOL_SOCKET;
        entry->cmsg_type = SCM_RIGHTS;
        entry->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(entry), &descriptor_with, sizeof(int));
    }
    return ::sendmsg(fd, &header, MSG_NOSIGNAL) < 0 ? errno : 0;
}

int receive(int fd, message& into) {
    std::array<char, longest> memory;
    iovec part{memory.data(), memory.size()};
    rights control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes.data();
    header.msg_controllen = control.bytes.size();
    const ssize_t size = ::recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
    if (size < 0) return errno;
    if (size == 0) return ECONNRESET;
    into.with.reset();
    const cmsghdr* const entry = CMSG_FIRSTHDR(&header);
    if (entry != nullptr && entry->cmsg_level == SOL_SOCKET && entry->cmsg_type == SCM_RIGHTS) {
        int received = -1;
        std::memcpy(&received, CMSG_DATA(entry), sizeof received);
        into.with.emplace(received);
    }
    const std::string_view all(memory.data(), static_cast<std::size_t>(size));
    const std::size_t space = all.find(' ');
    into.word = all.substr(0, space);
    into.text = space == all.npos ? "" : all.substr(space + 1);
    return 0;
}

}  // namespace culvert::daemon::command
