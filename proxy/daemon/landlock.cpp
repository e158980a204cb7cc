#include "proxy/daemon/landlock.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace culvert::daemon {
namespace {

// Debian 12 has the header of version 2.
constexpr std::uint64_t access_fs_truncate = 1ULL << 14;         // version 3
constexpr std::uint64_t access_fs_ioctl_dev = 1ULL << 15;        // version 5
constexpr std::uint64_t access_net_bind_tcp = 1ULL << 0;         // version 4
constexpr std::uint64_t access_net_connect_tcp = 1ULL << 1;      // version 4
constexpr std::uint64_t scope_abstract_unix_socket = 1ULL << 0;  // version 6
constexpr std::uint64_t scope_signal = 1ULL << 1;
constexpr int rule_net_port = 2;  // version 4

struct ruleset {
    std::uint64_t access_fs;
    std::uint64_t access_net;
    std::uint64_t scoped;
};

struct net_port {
    std::uint64_t allowed_access;
    std::uint64_t port;
};

// All that this version can forbid.
ruleset all_of(int version, bool any_port) {
    std::uint64_t files = LANDLOCK_ACCESS_FS_REFER - 1;  // the thirteen of version 1
    if (version >= 2) files |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) files |= access_fs_truncate;
    if (version >= 5) files |= access_fs_ioctl_dev;
    const bool ports = version >= 4 && !any_port;
    return {files, ports ? access_net_bind_tcp | access_net_connect_tcp : 0,
            version >= 6 ? scope_abstract_unix_socket | scope_signal : 0};
}

[[noreturn]] void fail(const char* what) {
    throw std::runtime_error(std::string("Landlock: ") + what + ": " + std::strerror(errno) +
                             "; sandbox = off does without");
}

// Adds rules to a set of them and puts it in force.
class landlock {
  public:
    landlock(int version, bool any_port) : all_(all_of(version, any_port)) {
        // The kernel takes a longer structure than it knows if the rest is zero.
        fd_ = static_cast<int>(
            ::syscall(SYS_landlock_create_ruleset, &all_, sizeof all_, std::uint32_t{0}));
        if (fd_ < 0) fail("making the rules");
    }
    landlock(const landlock&) = delete;
    landlock& operator=(const landlock&) = delete;
    ~landlock() { ::close(fd_); }

    void allow(const std::string& path, std::uint64_t access) const {
        const int at = ::open(path.c_str(), O_PATH | O_CLOEXEC);
        if (at < 0) return;
        struct stat info {};
        const bool folder = ::fstat(at, &info) == 0 && S_ISDIR(info.st_mode);
        if (!folder) access &= LANDLOCK_ACCESS_FS_READ_FILE;  // others are refused for a file
        const landlock_path_beneath_attr rule{access & all_.access_fs, at};
        const long done = ::syscall(SYS_landlock_add_rule, fd_, LANDLOCK_RULE_PATH_BENEATH, &rule,
                                    std::uint32_t{0});
        ::close(at);
        if (done != 0) fail(path.c_str());
    }

    void allow_connect(std::uint16_t port) const {
        if (all_.access_net == 0) return;
        const net_port rule{access_net_connect_tcp, port};
        if (::syscall(SYS_landlock_add_rule, fd_, rule_net_port, &rule, std::uint32_t{0}) != 0)
            fail("allowing a port");
    }

    void enforce() const {
        if (::syscall(SYS_landlock_restrict_self, fd_, std::uint32_t{0}) != 0)
            fail("putting the rules in force");
    }

  private:
    const ruleset all_;
    int fd_;
};

}  // namespace

int restrict_to(const reachable& places) {
    const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0},
                                   LANDLOCK_CREATE_RULESET_VERSION);
    if (version <= 0) return 0;
    const landlock rules(static_cast<int>(version), places.any_port);
    for (const auto& path : places.read_only)
        rules.allow(path, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
    for (const auto& folder : places.sockets)
        rules.allow(folder, LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_SOCK);
    for (const auto port : places.connect) rules.allow_connect(port);
    rules.enforce();
    return static_cast<int>(version);
}

}  // namespace culvert::daemon
