// Files that hold secret keys: one psk, one X25519 private key, or a list.
#pragma once

#include <filesystem>

#include "config/reason.hpp"
#include "config/settings.hpp"

namespace culvert::config {

// The key as 64 hex digits or as base64, with or without a byte order mark, white space around it
// and line ends. Refused, with the path and why: anything else, an all-zero key, what is not a
// regular file, and a file that everyone may read or write. The text of the reason never holds any
// of the file's content. Never waits; leaves no copy of the key in memory.
result<key> read_secret_key(const std::filesystem::path& path);

// What such a file holds, whatever that is: fills `out`, which the caller wipes, as far as it goes
// and gives the size. Refused like a key, and what does not leave a byte of `out` free is too long.
result<std::size_t> read_secret_file(const std::filesystem::path& path, crypto::bytes out);

// Writes the key as 64 hex digits and LF to a new file of mode 0600, and has the disk confirm it.
// An existing file is never touched; after a failure no file is left.
result<void> create_key_file(const std::filesystem::path& path, const key& to_write);

}  // namespace culvert::config
