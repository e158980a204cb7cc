// Scripts drawn at random, the same for the same seed on every machine.
#pragma once

#include "tests/faults/script.hpp"

namespace culvert::faults {

// Most streams are short, a few are megabytes; some three in ten networks are only slow, some one
// in forty goes dark or breaks the handshake, which takes both ends many seconds to give up.
script random_script(std::uint64_t seed);

// SplitMix64: the library's distributions differ from one library to the next.
class random_numbers {
  public:
    explicit random_numbers(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept {
        std::uint64_t value = state_ += 0x9e3779b97f4a7c15;
        value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
        value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
        return value ^ (value >> 31);
    }
    // Uniform in [least, most], but for a bias far below what a test could see.
    std::uint64_t between(std::uint64_t least, std::uint64_t most) noexcept {
        return least + next() % (most - least + 1);
    }
    bool one_in(std::uint64_t n) noexcept { return next() % n == 0; }
    // Each order of magnitude equally likely, from 1 up to `most`.
    std::uint64_t magnitude(std::uint64_t most) noexcept;

  private:
    std::uint64_t state_;
};

}  // namespace culvert::faults
