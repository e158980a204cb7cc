#include "proxy/relay/buffer_pool.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace culvert::relay {
namespace {

// Where memory has run out once, all of it is to be had for what comes: the pools of all threads
// keep next to nothing from then on.
std::atomic<bool> ran_out{false};
constexpr std::size_t idle_when_short = 1;

}  // namespace

void* buffer::operator new(std::size_t bytes) {
    void* const at = std::malloc(bytes);
    if (at == nullptr) {
        ran_out = true;
        throw std::bad_alloc();
    }
    return at;
}

void buffer::operator delete(void* at) noexcept {
    std::free(at);
}

buffer_pool::handle buffer_pool::take() {
    std::unique_ptr<buffer> got;
    if (idle_.empty()) {
        got = std::make_unique_for_overwrite<buffer>();
    } else {
        got = std::move(idle_.back());
        idle_.pop_back();
    }
    ++in_use_;
    return {got.release(), give_back{this}};
}

void buffer_pool::put(buffer* used) noexcept {
    std::unique_ptr<buffer> owned(used);
    --in_use_;
    const bool one_more = idle_.size() < (ran_out ? idle_when_short : max_idle);
    if (one_more)
        idle_.push_back(std::move(owned));
    else if (ran_out && idle_.size() > idle_when_short)
        idle_.pop_back();
}

}  // namespace culvert::relay
