#include "proxy/daemon/memory_reserve.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace culvert::daemon {
namespace {

// In parts, so that several threads may run short at the same time, and that what comes free in
// the heap in small pieces fills it again.
constexpr std::size_t part_size = 64 * 1024;
constexpr std::size_t all = 32;
constexpr std::size_t enough = all / 2;

std::array<std::atomic<void*>, all> parts{};
std::atomic<bool> complete{false};

void release_part() {
    complete = false;
    for (auto& part : parts) {
        void* const had = part.exchange(nullptr);
        if (had == nullptr) continue;
        std::free(had);
        return;  // and the allocation is tried again
    }
    throw std::bad_alloc();
}

// How many parts there are now, after trying to have all of them.
std::size_t fill() noexcept {
    std::size_t had = 0;
    for (auto& part : parts) {
        void* made = nullptr;
        if (part == nullptr) {
            made = std::malloc(part_size);
            void* expected = nullptr;
            if (made == nullptr || !part.compare_exchange_strong(expected, made)) std::free(made);
        }
        if (part != nullptr) ++had;
    }
    complete = had == all;
    return had;
}

}  // namespace

void keep_memory_reserve() {
    fill();
    std::set_new_handler(release_part);
}

bool memory_is_short() noexcept {
    return !complete && fill() < enough;
}

}  // namespace culvert::daemon
