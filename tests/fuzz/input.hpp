// What a fuzz target makes of the fuzzer's bytes: choices, messages, pieces.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string>
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
    input(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

    [[nodiscard]] bool used_up() const { return left_.empty(); }

    // Choices read from the front; once the input is used up, each is 0.
    std::uint8_t byte() {
        if (left_.empty()) return 0;
        const std::uint8_t first = left_.front();
        left_ = left_.subspan(1);
        return first;
    }
    bool flag() { return (byte() & 1) != 0; }
    std::size_t up_to(std::size_t most) {
        std::size_t value = 0;
        for (std::size_t range = most; range != 0; range >>= 8) value = value << 8 | byte();
        return value % (most + 1);
    }

    // The next bytes as they are: `size`, or as many as are left.
    buffer bytes(std::size_t size) {
        const bytes_view taken = left_.first(std::min(size, left_.size()));
        left_ = left_.subspan(taken.size());
        return copy(taken);
    }
    buffer rest() { return bytes(left_.size()); }
    std::string rest_as_text() {
        const buffer all = rest();
        return {all.begin(), all.end()};
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
        if (used_up()) return left;
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
        const buffer pattern = bytes(up_to(32));
        for (std::size_t i = 0; i < to.size() && !pattern.empty(); ++i) {
            to[i] = pattern[i % pattern.size()];
        }
    }

    bytes_view left_;
};

}  // namespace culvert::fuzz
