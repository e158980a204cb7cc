#include "proxy/daemon/service_manager.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "proxy/observe/log.hpp"

namespace culvert::daemon {
namespace {

constexpr int first_handed_down = 3;  // SD_LISTEN_FDS_START
constexpr int most_handed_down = 1'000;

std::string take_variable(const char* name) {
    const char* const value = std::getenv(name);
    std::string taken = value == nullptr ? "" : value;
    ::unsetenv(name);
    return taken;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_meant_for_us(const std::string& pid) {
    return number_in<pid_t>(pid) == ::getpid();
}

// A path, or with '@' in front the name of an abstract socket.
descriptor connect_to(const std::string& name) {
    sockaddr_un address{};
    const bool known = name.starts_with('/') || name.starts_with('@');
    if (!known || name.size() >= sizeof address.sun_path) return descriptor(-1);
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, name.size());
    if (name.starts_with('@')) address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    if (socket.get() >= 0 && ::connect(socket.get(), generic, size) != 0) return descriptor(-1);
    return socket;
}

sockets_at_hand handed_down() {
    sockets_at_hand sockets;
    const bool ours = is_meant_for_us(take_variable("LISTEN_PID"));
    const int count = number_in<int>(take_variable("LISTEN_FDS")).value_or(0);
    take_variable("LISTEN_FDNAMES");
    if (!ours || count < 0 || count > most_handed_down) return sockets;
    for (int fd = first_handed_down; fd < first_handed_down + count; ++fd) {
        if (!sockets.add(descriptor(fd), sockets_at_hand::path_belongs_to::others))
            observe::log(observe::log_level::warning,
                         "descriptor {} of the service manager is no listening socket: closed", fd);
    }
    return sockets;
}

std::optional<std::chrono::microseconds> watchdog() {
    const std::string pid = take_variable("WATCHDOG_PID");
    const auto interval = number_in<std::int64_t>(take_variable("WATCHDOG_USEC"));
    if (!interval || *interval <= 0 || (!pid.empty() && !is_meant_for_us(pid))) return std::nullopt;
    return std::chrono::microseconds(*interval);
}

}  // namespace

service_manager::service_manager()
    : socket_(connect_to(take_variable("NOTIFY_SOCKET"))),
      sockets_(handed_down()),
      patience_(watchdog()) {}

void service_manager::reloading() const {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                     now.tv_sec * 1'000'000LL + now.tv_nsec / 1'000));
}

void service_manager::main_process_is_this() const {
    tell(fmt::format("MAINPID={}", ::getpid()));
}

// A manager that does not listen misses something: nothing here depends on it.
void service_manager::tell(const std::string& what) const {
    if (socket_.get() >= 0) ::send(socket_.get(), what.data(), what.size(), MSG_NOSIGNAL);
}

}  // namespace culvert::daemon
