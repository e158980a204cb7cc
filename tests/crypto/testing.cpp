#include "tests/crypto/testing.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace culvert::tests {

buffer counting(std::size_t size, std::size_t first) {
    buffer result(size);
    for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<std::uint8_t>(first + i);
    return result;
}

buffer pattern_251(std::size_t size) {
    buffer result(size);
    for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<std::uint8_t>(i % 251);
    return result;
}

buffer text(std::string_view characters) {
    return {characters.begin(), characters.end()};
}

buffer joined(bytes_view a, bytes_view b) {
    buffer result(a.begin(), a.end());
    result.insert(result.end(), b.begin(), b.end());
    return result;
}

std::vector<std::size_t> cuts(std::size_t size) {
    static random_source random;
    const std::size_t exhaustive = size > 256 * 1024 ? 256 : 4096;
    std::vector<std::size_t> result;
    constexpr std::size_t step = emulated ? 7 : 1;
    for (std::size_t cut = 0; cut <= std::min(size, exhaustive); cut += step) result.push_back(cut);
    if (size <= exhaustive) return result;
    for (int i = 0; i < 64; ++i) result.push_back(exhaustive + random.below(size - exhaustive + 1));
    result.push_back(size);
    return result;
}

random_source::random_source() {
    const char* given = std::getenv("CULVERT_TEST_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("CULVERT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    engine_.seed(seed);
}

std::size_t random_source::below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_);
}

buffer random_source::bytes(std::size_t size) {
    buffer result(size);
    for (std::size_t at = 0; at < size; at += 8) {
        const std::uint64_t word = engine_();
        std::copy_n(reinterpret_cast<const std::uint8_t*>(&word),
                    std::min<std::size_t>(8, size - at), result.data() + at);
    }
    return result;
}

std::vector<std::size_t> random_source::partition(std::size_t total) {
    static constexpr std::array<std::size_t, 20> special{
        0, 1, 15, 16, 17, 31, 63, 64, 65, 127, 135, 136, 137, 167, 168, 169, 255, 256, 257, 512};
    std::vector<std::size_t> sizes;
    while (total != 0) {
        const std::size_t wanted = below(4) == 0 ? below(8192) : special[below(special.size())];
        sizes.push_back(std::min(wanted, total));
        total -= sizes.back();
    }
    return sizes;
}

std::size_t guarded_buffer::guard() {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

guarded_buffer::guarded_buffer(std::size_t size)
    : size_(size), mapped_((size / guard() + 2) * guard()) {
    void* memory =
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::uint8_t*>(memory);
    if (::mprotect(memory_ + mapped_ - guard(), guard(), PROT_NONE) != 0) throw std::bad_alloc();
}

guarded_buffer::guarded_buffer(bytes_view content) : guarded_buffer(content.size()) {
    std::copy(content.begin(), content.end(), span().begin());
}

guarded_buffer::~guarded_buffer() {
    ::munmap(memory_, mapped_);
}

}  // namespace culvert::tests
