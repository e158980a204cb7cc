// What a fuzz target makes of the fuzzer's bytes: choices, messages, pieces.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <vector>

#include "crypto/bytes.hpp"

namespace culvert::fuzz {

using crypto::bytes_view;
using buffer = std::vector<std::uint8_t>;  // ends where its memory ends: a byte beyond is a finding

// What must hold; a finding otherwise.
inline void require(bool holds) {
    if (!holds) std::abort();
}

inline buffer copy(bytes_view of) {
    return {of.begin(), of.end()};
}

class input {
  public:
    input(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

    bool flag() { return bytes_.ConsumeBool(); }
    std::size_t up_to(std::size_t most) {
        return bytes_.ConsumeIntegralInRange<std::size_t>(0, most);
    }

    // One of the kernels that this CPU runs.
    template <class Kernel>
    const Kernel& kernel(std::span<const Kernel> table) {
        const Kernel& chosen = table[up_to(table.size() - 1)];
        return chosen.supported() ? chosen : table.back();
    }

    // A few bytes over and over, so that short inputs make long messages too.
    buffer message(std::size_t most) {
        buffer result(up_to(most));
        fill(result);
        return result;
    }
    template <std::size_t N>
    std::array<std::uint8_t, N> block() {
        std::array<std::uint8_t, N> result{};
        fill(result);
        return result;
    }

    // How many of `left` bytes come next: all of them once the input is used up.
    std::size_t piece(std::size_t left) {
        if (bytes_.remaining_bytes() == 0) return left;
        return up_to(flag() ? std::min<std::size_t>(left, 161) : left);
    }

    // Calls take(piece) for all bytes of `message`, each piece in memory of its own.
    template <class Take>
    void in_pieces(bytes_view message, Take take) {
        while (!message.empty()) {
            const std::size_t size = piece(message.size());
            take(copy(message.first(size)));
            message = message.subspan(size);
        }
    }

  private:
    void fill(crypto::bytes to) {
        const buffer pattern = bytes_.ConsumeBytes<std::uint8_t>(up_to(32));
        for (std::size_t i = 0; i < to.size() && !pattern.empty(); ++i) {
            to[i] = pattern[i % pattern.size()];
        }
    }

    FuzzedDataProvider bytes_;
};

}  // namespace culvert::fuzz
