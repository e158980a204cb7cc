#include "proxy/observe/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>

namespace culvert::observe {
namespace {

double seconds_of(const timeval& time) noexcept {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Size and resident set, in pages.
std::array<std::uint64_t, 2> read_pages(int statm) noexcept {
    std::array<char, 128> text{};
    std::array<std::uint64_t, 2> pages{};
    const ssize_t size = ::pread(statm, text.data(), text.size(), 0);
    if (size <= 0) return pages;
    const char* at = text.data();
    const char* const end = at + size;
    for (std::uint64_t& number : pages) {
        at = std::from_chars(at, end, number).ptr;
        if (at != end) ++at;  // the space
    }
    return pages;
}

// A record of getdents64: an inode and an offset, 8 bytes each, then its own size.
constexpr std::size_t size_in_record = 16;

// By the system call: a stream over a directory would want memory, and the descriptor for itself.
std::uint64_t count_entries(int directory) noexcept {
    if (::lseek(directory, 0, SEEK_SET) != 0) return 0;
    alignas(8) std::array<char, 8'192> records;
    std::uint64_t count = 0;
    for (;;) {
        const long size = ::syscall(SYS_getdents64, directory, records.data(), records.size());
        if (size <= 0) return count;
        for (long at = 0; at < size;) {
            std::uint16_t length = 0;
            std::memcpy(&length, records.data() + at + size_in_record, sizeof length);
            at += length;
            ++count;
        }
    }
}

}  // namespace

process_reader::process_reader() noexcept
    : memory_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      files_(::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

process_reader::~process_reader() {
    if (memory_ >= 0) ::close(memory_);
    if (files_ >= 0) ::close(files_);
}

process_status process_reader::read() const noexcept {
    process_status now;
    constexpr std::uint64_t dot_and_dot_dot = 2;
    const std::uint64_t entries = count_entries(files_);
    now.open_fds = entries > dot_and_dot_dot ? entries - dot_and_dot_dot : 0;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) now.max_fds = limit.rlim_cur;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const auto [all, resident] = read_pages(memory_);
    now.virtual_bytes = all * page;
    now.resident_bytes = resident * page;
    rusage used{};
    if (::getrusage(RUSAGE_SELF, &used) == 0)
        now.cpu_s = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    return now;
}

}  // namespace culvert::observe
