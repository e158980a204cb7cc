#include "proxy/daemon/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace culvert::daemon {
namespace {

constexpr std::size_t per_session = 2;
constexpr std::size_t spare = 8;

}  // namespace

void raise_descriptor_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t descriptors_left() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const auto open = static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
    const std::size_t all = limit.rlim_cur;
    const std::size_t taken = open + spare;
    return all > taken ? all - taken : 0;
}

std::size_t sessions_that_fit(std::size_t descriptors, std::size_t pooled) noexcept {
    const std::size_t left = descriptors > pooled ? descriptors - pooled : 0;
    return std::max<std::size_t>(1, left / per_session);
}

}  // namespace culvert::daemon
