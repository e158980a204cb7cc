// Why a call of the authenticated ciphers was refused. A refused call has changed nothing.
#pragma once

#include <cstdint>

#include "crypto/bytes.hpp"

namespace culvert::crypto {

enum class [[nodiscard]] status : std::uint8_t{
    ok,
    short_output,  // the output has less room than the call would write
    overlap,       // input and output share memory in another way than the call allows
    data_limit,    // more text than one nonce can encrypt
    late_ad,       // additional data after the first byte of text
};

// True when some byte belongs to both.
[[nodiscard]] inline bool share_memory(bytes_view a, bytes_view b) noexcept {
    if (a.empty() || b.empty()) return false;
    const auto a_begin = reinterpret_cast<std::uintptr_t>(a.data());
    const auto b_begin = reinterpret_cast<std::uintptr_t>(b.data());
    return a_begin < b_begin ? b_begin - a_begin < a.size() : a_begin - b_begin < b.size();
}

// True when the two share memory but do not begin at the same address.
[[nodiscard]] inline bool overlap_partially(bytes_view a, bytes_view b) noexcept {
    return a.data() != b.data() && share_memory(a, b);
}

}  // namespace culvert::crypto
