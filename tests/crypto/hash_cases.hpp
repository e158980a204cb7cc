// What the tests of the hashes share: each function as one that takes a message in pieces.
#pragma once

#include <functional>
#include <string_view>

#include "crypto/kernels/keccak.hpp"
#include "tests/crypto/testing.hpp"

namespace culvert::tests {

// Gives the next piece of a message to a hash.
using absorb_function = std::function<void(bytes_view)>;
// Hashes what `feed` gives to it, into an output of `size` bytes.
using hash_function = std::function<buffer(const std::function<void(const absorb_function&)>& feed,
                                           std::size_t size)>;

buffer hash_of(const hash_function& hash, bytes_view message, std::size_t size);
// The message in pieces of the given sizes.
buffer hash_in_pieces(const hash_function& hash, bytes_view message,
                      const std::vector<std::size_t>& sizes, std::size_t size);

// Whole, unaligned, and cut in two at every offset (see cuts()).
void check_hash(const hash_function& hash, bytes_view message, const buffer& right);

// The contract of a hash over random messages: every length up to three blocks; a message whose
// first byte beyond does not exist; empty pieces; any pieces.
void check_hash_contract(const hash_function& hash, std::size_t rate);

// By libcrypto, named "SHA3-256", "SHAKE128" and so on.
buffer oracle_hash(const char* name, bytes_view message, std::size_t size);

}  // namespace culvert::tests
