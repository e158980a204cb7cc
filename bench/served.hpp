// What a backend has done so far.
#pragma once

#include <atomic>
#include <cstdint>

namespace culvert::load {

// Of all connections; those that are open count with what they have moved.
struct served {
    std::atomic<std::uint64_t> connections{0};  // ended
    std::atomic<std::uint64_t> received{0};     // bytes of the streams, without requests, verdicts
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> wrong{0};  // streams that arrived changed, and requests

    static void add(std::atomic<std::uint64_t>& to, std::uint64_t more) noexcept {
        to.fetch_add(more, std::memory_order_relaxed);
    }
};

}  // namespace culvert::load
