#include "proxy/daemon/privileges.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "config/file.hpp"

namespace culvert::daemon {
namespace {

void require(bool done, const std::string& what) {
    if (!done) throw std::runtime_error(what + ": " + std::strerror(errno));
}

bool is(const config::account& user, gid_t group) {
    std::array<uid_t, 3> users{};
    std::array<gid_t, 3> groups{};
    return ::getresuid(&users[0], &users[1], &users[2]) == 0 &&
           ::getresgid(&groups[0], &groups[1], &groups[2]) == 0 &&
           users == std::array<uid_t, 3>{user.user, user.user, user.user} &&
           groups == std::array<gid_t, 3>{group, group, group};
}

bool root_is_back() {
    return ::setuid(0) == 0 || ::seteuid(0) == 0 || ::setresuid(0, 0, 0) == 0;
}

}  // namespace

void become(const config::account& user, std::uint32_t group) {
    if (is(user, group)) return;
    if (::geteuid() != 0)
        throw std::runtime_error("user = " + user.name + " needs a start by root");
    require(::initgroups(user.name.c_str(), group) == 0, "the groups of user " + user.name);
    require(::setresgid(group, group, group) == 0, "the group of user " + user.name);
    require(::setresuid(user.user, user.user, user.user) == 0, "becoming user " + user.name);
    if (!is(user, group) || root_is_back())
        throw std::runtime_error("user = " + user.name + ": root's rights did not go");
}

void give_socket(const std::string& path, std::uint32_t user, std::uint32_t group) {
    // By descriptor: whoever may write to the folder could put something else under the name.
    const config::file_descriptor socket(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (::fstat(socket.number(), &info) != 0 || !S_ISSOCK(info.st_mode)) return;
    require(::fchownat(socket.number(), "", user, group, AT_EMPTY_PATH) == 0,
            "the owner of " + path);
}

void drop_capabilities() {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);  // unknown to old kernels
    const std::uint32_t kept = ::geteuid() == 0 ? CAP_TO_MASK(CAP_DAC_OVERRIDE) : 0;
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> had{};
    require(::syscall(SYS_capget, &head, had.data()) == 0, "reading the capabilities");
    const auto none = [](const auto& set) {
        return (set.permitted | set.effective | set.inheritable) == 0;
    };
    if (std::all_of(had.begin(), had.end(), none)) return;
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> left{};
    left[0].permitted = left[0].effective = kept & had[0].permitted;
    require(::syscall(SYS_capset, &head, left.data()) == 0, "dropping the capabilities");
}

void forbid_new_privileges() {
    require(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
}

}  // namespace culvert::daemon
