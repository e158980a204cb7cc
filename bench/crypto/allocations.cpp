#include "bench/crypto/allocations.hpp"

#include <cstddef>

namespace {

std::uint64_t count = 0;  // the program has one thread

}  // namespace

// The C library's own, under their other names; its new calls malloc.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);

void* malloc(std::size_t size) {
    ++count;
    return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
    ++count;
    return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
    ++count;
    return __libc_realloc(memory, size);
}
}

namespace culvert::bench {

std::uint64_t allocations() noexcept {
    return count;
}

}  // namespace culvert::bench
