// What a confined process may do and what ends it. Each try is made by a child, which enters the
// same sandbox as the daemon does.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "proxy/daemon/landlock.hpp"
#include "proxy/daemon/memory.hpp"
#include "proxy/daemon/privileges.hpp"
#include "proxy/daemon/seccomp.hpp"
#include "tests/proxy/peer.hpp"

namespace culvert::tests {
namespace {

using namespace daemon;

// Sanitizers make system calls of their own: what they would be killed for says nothing.
#ifdef CULVERT_SANDBOX
constexpr bool skip = false;
#else
constexpr bool skip = true;
#endif

using attempt = std::function<bool()>;

// The exit status of a child: 0 when the attempt came true, 1 when not; 256 + the signal that
// ended it.
int in_child(const std::function<void()>& confine, const attempt& what) {
    const pid_t child = ::fork();
    if (child == 0) {
        forbid_dumps();
        forbid_new_privileges();
        confine();
        ::_exit(what() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

int filtered(const attempt& what, bool unlink = false) {
    return in_child([=] { static_cast<void>(allow_only_relay_calls({.unlink = unlink})); }, what);
}

int restricted(const reachable& places, const attempt& what) {
    return in_child([&] { static_cast<void>(restrict_to(places)); }, what);
}

int landlock_version() {
    return static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0}, 1U));
}

constexpr int killed = 256 + SIGSYS;

bool opens(const std::string& path, int flags = O_RDONLY) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (fd >= 0) ::close(fd);
    return fd >= 0;
}

bool starts_thread() {
    bool ran = false;
    std::thread([&ran] {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        ran = true;
    }).join();
    return ran;
}

bool looks_up(const char* name) {
    addrinfo* found = nullptr;
    const bool done = ::getaddrinfo(name, "80", nullptr, &found) == 0;
    if (done) ::freeaddrinfo(found);
    return done;
}

int tcp_socket() {
    return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

// The errno of connecting to a port of the loopback; 0 when somebody took the connection.
int connecting_to(std::uint16_t port) {
    const sockaddr_in address = loopback(port);
    const int fd = tcp_socket();
    const int done = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int why = done == 0 ? 0 : errno;
    ::close(fd);
    return why;
}

// A folder with a file in it, for as long as this lives.
struct scratch {
    scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "culvert-XXXXXX").native();
        folder = ::mkdtemp(name.data());
        std::ofstream(file()) << "text\n";
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() { std::filesystem::remove_all(folder); }

    [[nodiscard]] std::string file() const { return folder + "/file"; }

    std::string folder;
};

}  // namespace

TEST_SUITE("confine" * doctest::skip(skip)) {
    TEST_CASE("a filter lets through what a relay does") {
        CHECK(filtered([] { return true; }) == 0);
        CHECK(filtered(starts_thread) == 0);
        CHECK(filtered([] { return looks_up("localhost"); }) == 0);
        CHECK(filtered([] { return !looks_up("no-such-host.invalid"); }) == 0);
        CHECK(filtered([] { return opens("/etc/hosts"); }) == 0);
        CHECK(filtered([] { return !std::string(4'000'000, 'x').empty(); }) == 0);
        CHECK(filtered([] { return connecting_to(1) == ECONNREFUSED; }) == 0);
        CHECK(filtered([] {
                  const std::time_t now = ::time(nullptr);
                  std::tm parts{};
                  return ::localtime_r(&now, &parts) != nullptr;
              }) == 0);
    }

    TEST_CASE("a filter kills for anything else") {
        CHECK(filtered([] { return ::execl("/bin/true", "true", nullptr) == 0; }) == killed);
        CHECK(filtered([] { return ::fork() == 0; }) == killed);
        CHECK(filtered([] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }) ==
              killed);
        CHECK(filtered([] { return opens("/dev/null", O_WRONLY); }) == killed);
        CHECK(filtered([] { return opens("/dev/null", O_RDWR); }) == killed);
        CHECK(filtered([] { return opens("/tmp", O_TMPFILE | O_WRONLY); }) == killed);
        CHECK(filtered([] { return opens("/dev/null", O_CREAT); }) == killed);
        CHECK(filtered([] { return ::listen(tcp_socket(), 1) == 0; }) == killed);
        CHECK(filtered([] { return ::kill(::getppid(), 0) == 0; }) == killed);
        CHECK(filtered([] { return ::unlink("/no/such/file") == 0; }) == killed);
        CHECK(filtered([] { return ::chmod("/no/such/file", 0) == 0; }) == killed);
        CHECK(filtered([] { return ::setuid(0) == 0; }) == killed);
        CHECK(filtered([] { return ::socket(AF_PACKET, SOCK_RAW, 0) >= 0; }) == killed);
        CHECK(filtered([] { return ::syscall(SYS_io_uring_setup, 1, nullptr) >= 0; }) == killed);
    }

    TEST_CASE("no memory is writable and executable, and none becomes executable") {
        constexpr std::size_t page = 4'096;
        const auto map = [](int rights) {
            return ::mmap(nullptr, page, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        };
        CHECK(filtered([&] { return map(PROT_READ | PROT_WRITE) != MAP_FAILED; }) == 0);
        CHECK(filtered([&] { return map(PROT_READ | PROT_WRITE | PROT_EXEC) != MAP_FAILED; }) ==
              killed);
        CHECK(filtered([&] {
                  void* const memory = map(PROT_READ | PROT_WRITE);
                  return ::mprotect(memory, page, PROT_READ | PROT_EXEC) == 0;
              }) == killed);
    }

    TEST_CASE("what libraries only try fails") {
        CHECK(filtered([] { return ::syscall(SYS_clone3, nullptr, 0) == -1 && errno == ENOSYS; }) ==
              0);
        CHECK(filtered([] { return ::syscall(462, 0, 0, 0) == -1 && errno == ENOSYS; }) == 0);
    }

    TEST_CASE("files may be removed only where a unix socket will have to be") {
        const auto remove = [] { return ::unlink("/no/such/file") == -1 && errno == ENOENT; };
        CHECK(filtered(remove, true) == 0);
        CHECK(filtered(remove, false) == killed);
    }

    TEST_CASE("threads that run already are bound too") {
        CHECK(in_child([] {},
                       [] {
                           std::atomic<bool> go{false};
                           std::thread other([&go] {
                               while (!go) std::this_thread::yield();
                               ::execl("/bin/true", "true", nullptr);
                           });
                           static_cast<void>(allow_only_relay_calls({}));
                           go = true;
                           other.join();
                           return true;
                       }) == killed);
    }

    TEST_CASE("Landlock leaves the files that were named") {
        if (landlock_version() < 1) {
            MESSAGE("skipped: this kernel has no Landlock");
            return;
        }
        const scratch here;
        const scratch there;
        const reachable places{{here.folder}, {there.folder}, {}};
        CHECK(restricted(places, [&] { return opens(here.file()); }) == 0);
        CHECK(restricted(places, [&] { return opens(here.file(), O_WRONLY); }) == 1);
        CHECK(restricted(places, [&] { return opens(here.folder + "/new", O_CREAT); }) == 1);
        CHECK(restricted(places, [&] { return ::unlink(here.file().c_str()) == 0; }) == 1);
        CHECK(restricted(places, [&] { return opens(there.file()); }) == 1);
        CHECK(restricted(places, [&] { return opens("/proc/self/maps"); }) == 1);
        CHECK(restricted(places, [&] { return ::execl("/bin/true", "true", nullptr) == 0; }) == 1);
        CHECK(restricted(places, [&] { return ::unlink(there.file().c_str()) == 0; }) == 0);
        CHECK_FALSE(std::filesystem::exists(there.file()));
        CHECK(std::filesystem::exists(here.file()));
    }

    TEST_CASE("Landlock leaves the ports that were named, and none to listen on") {
        if (landlock_version() < 4) {
            MESSAGE("skipped: this kernel's Landlock knows no ports");
            return;
        }
        const reachable places{{}, {}, {2}};
        CHECK(restricted(places, [] { return connecting_to(2) == ECONNREFUSED; }) == 0);
        CHECK(restricted(places, [] { return connecting_to(1) == EACCES; }) == 0);
        CHECK(restricted(places, [] {
                  const sockaddr_in any = loopback(0);
                  return ::bind(tcp_socket(), reinterpret_cast<const sockaddr*>(&any),
                                sizeof any) == -1 &&
                         errno == EACCES;
              }) == 0);
    }

    TEST_CASE("Landlock keeps signals and abstract sockets inside") {
        if (landlock_version() < 6) {
            MESSAGE("skipped: this kernel's Landlock knows no scopes");
            return;
        }
        CHECK(restricted({}, [] { return ::kill(::getppid(), 0) == -1 && errno == EPERM; }) == 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string name = "culvert-confine-" + std::to_string(::getpid());
        name.copy(address.sun_path + 1, name.size());
        const auto* generic = reinterpret_cast<const sockaddr*>(&address);
        const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        REQUIRE(::bind(listener, generic, sizeof address) == 0);
        REQUIRE(::listen(listener, 1) == 0);
        const auto connects = [&] {
            return ::connect(::socket(AF_UNIX, SOCK_STREAM, 0), generic, sizeof address) == 0;
        };
        CHECK(in_child([] {}, connects) == 0);
        CHECK(restricted({}, connects) == 1);
        ::close(listener);
    }

    TEST_CASE("root's rights do not come back") {
        if (::geteuid() != 0) {
            MESSAGE("skipped: only root has something to give up");
            return;
        }
        const config::account nobody{"nobody", 65'534, 65'534};
        CHECK(in_child([&] { become(nobody, nobody.group); },
                       [] {
                           return ::geteuid() == 65'534 && ::setuid(0) != 0 && ::seteuid(0) != 0 &&
                                  ::setgid(0) != 0 && ::setgroups(0, nullptr) != 0;
                       }) == 0);
        // Becoming the same once more is nothing; becoming another is refused.
        CHECK(in_child([&] { become(nobody, nobody.group); },
                       [&] {
                           become(nobody, nobody.group);
                           try {
                               become({"daemon", 1, 1}, 1);
                           } catch (const std::runtime_error&) {
                               return true;
                           }
                           return false;
                       }) == 0);
    }

    TEST_CASE("capabilities are gone, even where root stays") {
        const auto binds_low_port = [] {
            const sockaddr_in low = loopback(1);
            return ::bind(tcp_socket(), reinterpret_cast<const sockaddr*>(&low), sizeof low) == 0;
        };
        CHECK(in_child(drop_capabilities, binds_low_port) == 1);
        if (::geteuid() == 0) CHECK(in_child([] {}, binds_low_port) == 0);
    }
}

}  // namespace culvert::tests
