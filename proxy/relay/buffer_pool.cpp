#include "proxy/relay/buffer_pool.hpp"

#include <cstdlib>
#include <new>

namespace culvert::relay {

void* buffer::operator new(std::size_t bytes) {
    void* const at = std::malloc(bytes);
    if (at == nullptr) throw std::bad_alloc();
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
    if (idle_.size() < max_idle) idle_.push_back(std::move(owned));
}

}  // namespace culvert::relay
