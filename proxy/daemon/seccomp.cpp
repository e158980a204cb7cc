#include "proxy/daemon/seccomp.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace culvert::daemon {
namespace {

// What is no call of this architecture is left out: aarch64 has no open, poll, epoll_wait ...
constexpr const char* plain_calls[] = {
    // Sockets and pipes that are open.
    "read", "readv", "pread64", "write", "writev", "recvfrom", "recvmsg", "recvmmsg", "sendto",
    "sendmsg", "sendmmsg", "close", "shutdown", "fcntl", "dup", "lseek",
    // New connections. bind is for netlink sockets too.
    "accept", "accept4", "connect", "bind", "setsockopt", "getsockopt", "getsockname",
    "getpeername",
    // Waiting.
    "poll", "ppoll", "select", "pselect6", "epoll_create1", "epoll_ctl", "epoll_wait",
    "epoll_pwait", "epoll_pwait2", "eventfd2", "pipe", "pipe2", "timerfd_create", "timerfd_settime",
    "timerfd_gettime", "nanosleep", "clock_nanosleep", "restart_syscall",
    // Memory. mlock: more keys.
    "brk", "munmap", "mremap", "madvise", "mlock", "mlock2", "munlock",
    // Threads, and their end.
    "futex", "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "membarrier",
    "sched_yield", "sched_getaffinity", "getcpu", "gettid", "getpid", "getppid", "exit",
    "exit_group", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
    // Clocks and randomness: fallbacks of the vDSO for the first.
    "clock_gettime", "clock_getres", "gettimeofday", "time", "getrandom",
    // Name lookups and the libraries that they load: configuration, locale, time zone.
    "stat", "fstat", "lstat", "newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat",
    "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd", "flock", "uname", "sysinfo",
    "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "getrusage",
    "umask"};

// glibc tries these and can do without; the arguments of clone3 are out of a filter's reach.
constexpr const char* unknown_calls[] = {"clone3",          "openat2",
                                         "close_range",     "futex_waitv",
                                         "process_madvise", "set_mempolicy_home_node"};

// Calls that are younger than libseccomp: as if the kernel were as old as the library. Up to the
// end of the range that has been given out, 2026.
constexpr int first_young_call = 451;
constexpr int last_young_call = 480;

constexpr int write_flags = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);

void require(int result, const char* what) {
    if (result < 0)
        throw std::runtime_error(std::string("seccomp: ") + what + ": " + std::strerror(-result) +
                                 "; sandbox = off does without");
}

class filter {
  public:
    filter() : context_(seccomp_init(SCMP_ACT_KILL_PROCESS)) {
        if (context_ == nullptr) throw std::runtime_error("seccomp: no memory");
        set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
        set(SCMP_FLTATR_CTL_NNP, 0);       // is set already
        set(SCMP_FLTATR_CTL_TSYNC, 1);     // all threads
        set(SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a tree, not a list
    }
    filter(const filter&) = delete;
    filter& operator=(const filter&) = delete;
    ~filter() { seccomp_release(context_); }

    // `when` are conditions on the arguments, all of which have to be true. Several rules for one
    // call are alternatives.
    void rule(std::uint32_t action, const char* call,
              std::initializer_list<scmp_arg_cmp> when = {}) {
        const int number = seccomp_syscall_resolve_name(call);
        if (number >= 0) rule(action, number, when);
    }
    void rule(std::uint32_t action, int number, std::initializer_list<scmp_arg_cmp> when = {}) {
        require(seccomp_rule_add_array(context_, action, number, static_cast<unsigned>(when.size()),
                                       when.begin()),
                "making the filter");
    }
    void allow(const char* call, std::initializer_list<scmp_arg_cmp> when = {}) {
        rule(SCMP_ACT_ALLOW, call, when);
    }

    [[nodiscard]] int load() { return seccomp_load(context_); }

  private:
    void set(scmp_filter_attr what, std::uint32_t value) {
        require(seccomp_attr_set(context_, what, value), "setting up");
    }

    scmp_filter_ctx context_;
};

// The argument has these bits as they are in `value`.
scmp_arg_cmp bits(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
    return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

scmp_arg_cmp without(unsigned argument, int mask) {
    return bits(argument, static_cast<unsigned>(mask), 0);
}

// An argument of type int: what the upper half of its register holds, nobody promises.
scmp_arg_cmp is(unsigned argument, int value) {
    return bits(argument, 0xffff'ffff, static_cast<unsigned>(value));
}

scmp_arg_cmp is_null(unsigned argument) {
    return {argument, SCMP_CMP_EQ, 0, 0};
}

void add_sockets(filter& to) {
    for (const int family : {AF_UNIX, AF_INET, AF_INET6}) to.allow("socket", {is(0, family)});
    constexpr int netlink_route = 0;  // name lookups ask which addresses this machine has
    to.allow("socket", {is(0, AF_NETLINK), is(2, netlink_route)});
    // Blocking or not; the names of interfaces, for IPv6 addresses with a scope.
    for (const int request : {FIONBIO, FIONREAD, SIOCGIFINDEX, SIOCGIFNAME})
        to.allow("ioctl", {is(1, request)});
}

// Code comes from files of libraries only, and is never changed.
void add_memory(filter& to) {
    to.allow("mmap", {without(2, PROT_EXEC)});
    to.allow("mmap", {without(2, PROT_WRITE)});
    to.allow("mprotect", {without(2, PROT_EXEC)});
}

// Threads, no processes; signals to this process, as abort() sends one.
void add_threads(filter& to) {
    to.allow("clone", {bits(0, CLONE_THREAD, CLONE_THREAD)});
    to.allow("tgkill", {is(0, ::getpid())});
    to.allow("prctl", {is(0, PR_SET_NAME)});
    // getrlimit: how large a stack is.
    to.allow("prlimit64", {is(0, 0), is_null(2)});
}

void add_files(filter& to, const allowed_calls& more) {
    to.allow("openat", {without(2, write_flags)});
    to.allow("open", {without(1, write_flags)});
    if (more.listen) to.allow("listen");
    if (!more.unlink) return;
    to.allow("unlink");
    to.allow("unlinkat", {is(2, 0)});
}

void add_unknown(filter& to) {
    for (const char* const call : unknown_calls) to.rule(SCMP_ACT_ERRNO(ENOSYS), call);
    for (int number = first_young_call; number <= last_young_call; ++number)
        to.rule(SCMP_ACT_ERRNO(ENOSYS), number);
}

}  // namespace

bool allow_only_relay_calls(const allowed_calls& more) {
    filter rules;
    for (const char* const call : plain_calls) rules.allow(call);
    add_sockets(rules);
    add_memory(rules);
    add_threads(rules);
    add_files(rules, more);
    add_unknown(rules);
    const int result = rules.load();
    if (result == -EINVAL || result == -ENOSYS) return false;
    require(result, "putting the filter in force");
    return true;
}

}  // namespace culvert::daemon
