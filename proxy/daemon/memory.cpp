#include "proxy/daemon/memory.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>

namespace culvert::daemon {
namespace {

constexpr rlim_t locked_memory = 64 * 1024 * 1024;  // keys of some 300,000 sessions

}  // namespace

void forbid_dumps() noexcept {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::prctl(PR_SET_DUMPABLE, 0);
}

void allow_dumps() noexcept {
    ::prctl(PR_SET_DUMPABLE, 1);
}

void raise_locked_memory_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return;
    const rlim_t most = std::max(limit.rlim_max, locked_memory);
    const rlimit wanted{most, most};
    if (::setrlimit(RLIMIT_MEMLOCK, &wanted) == 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_MEMLOCK, &limit);
}

}  // namespace culvert::daemon
