// A message that has nearly reached the data limit, without the 256 GiB before.
#pragma once

#include "crypto/chacha20poly1305.hpp"

namespace culvert::crypto::chacha20poly1305 {

struct message_access {
    // As if `text` bytes, a multiple of 64, had gone through. The tag is that of what follows.
    static void skip(message& message, std::uint64_t text) noexcept {
        message.begin_text(0);
        message.work_.text_size = text;
        message.work_.kernel.cipher[12] = static_cast<std::uint32_t>(1 + text / 64);
    }
    static message& inner(stream_opener& opener) noexcept { return opener.message_; }
};

}  // namespace culvert::crypto::chacha20poly1305
