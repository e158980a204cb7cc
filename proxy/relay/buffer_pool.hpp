// The buffers of one thread: taken when there are bytes to move, given back when there are none.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "proxy/carrier/socket.hpp"
#include "proxy/protocol/opener.hpp"

namespace culvert::relay {

struct buffer {
    static constexpr std::size_t max_parts = 64;  // of one gathered write or scattered read
    static constexpr std::size_t size = 4 * (protocol::max_payload + protocol::record_overhead);

    std::array<std::uint8_t, size> memory;
    std::array<protocol::opened_record, max_parts> records;
    std::array<iovec, max_parts> parts;

    // Not from what operator new may hold in reserve: where there is no memory for a buffer, its
    // session ends, and the small things of the others go on.
    static void* operator new(std::size_t bytes);
    static void operator delete(void* at) noexcept;
};

// Not shared between threads.
class buffer_pool {
  public:
    static constexpr std::size_t max_idle = 16;  // kept for the next taker; more are freed

    struct give_back {
        buffer_pool* pool;
        void operator()(buffer* used) const noexcept { pool->put(used); }
    };
    using handle = std::unique_ptr<buffer, give_back>;

    buffer_pool() { idle_.reserve(max_idle); }

    // A buffer with undefined content. The pool must outlive it.
    [[nodiscard]] handle take();

    [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }

  private:
    void put(buffer* used) noexcept;

    std::vector<std::unique_ptr<buffer>> idle_;
    std::size_t in_use_ = 0;
};

}  // namespace culvert::relay
