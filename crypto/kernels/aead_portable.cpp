// Cipher and authenticator one after the other, a run at a time, so that the text is still in the
// first-level cache when it is used again.

#include <algorithm>

#include "crypto/kernels/portable.hpp"

namespace culvert::crypto {
namespace {

constexpr std::size_t run_macs = aead_run / 16;

using lanes = std::uint64_t __attribute__((vector_size(16)));

lanes load(const std::uint8_t* from) noexcept {
    lanes value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
void store(std::uint8_t* to, lanes value) noexcept {
    std::memcpy(to, &value, sizeof value);
}

std::size_t keystream(chacha20_words& cipher, std::uint8_t* out, std::size_t blocks) noexcept {
    std::fill_n(out, 64 * blocks, std::uint8_t{0});
    chacha20_portable.xor_blocks(cipher, out, out, blocks);
    return blocks;
}

void authenticate(aead_state& state, const std::uint8_t* in, std::size_t blocks) noexcept {
    poly1305_portable.mac_blocks(state.mac, in, blocks);
}

void seal_runs(aead_state& state, const std::uint8_t* pending, const std::uint8_t* in,
               std::uint8_t* out, std::size_t runs) noexcept {
    for (; runs != 0; --runs, in += aead_run, out += aead_run) {
        if (pending != nullptr) authenticate(state, pending, run_macs);
        chacha20_portable.xor_blocks(state.cipher, in, out, aead_run_blocks);
        pending = out;
    }
}

void open_runs(aead_state& state, const std::uint8_t* in, std::uint8_t* out,
               std::size_t runs) noexcept {
    for (; runs != 0; --runs, in += aead_run, out += aead_run) {
        authenticate(state, in, run_macs);
        chacha20_portable.xor_blocks(state.cipher, in, out, aead_run_blocks);
    }
}

void renew(aead_state& state, const std::uint8_t* pending, std::uint8_t* stream) noexcept {
    authenticate(state, pending, run_macs);
    keystream(state.cipher, stream, aead_run_blocks);
}

void seal_piece(std::uint8_t* stream, const std::uint8_t* in, std::uint8_t* out,
                std::size_t size) noexcept {
    std::size_t i = 0;
    for (; size - i >= 16; i += 16) {
        const lanes text = load(in + i) ^ load(stream + i);
        store(out + i, text);
        store(stream + i, text);
    }
    for (; i < size; ++i) out[i] = stream[i] = static_cast<std::uint8_t>(stream[i] ^ in[i]);
}

void open_piece(std::uint8_t* stream, const std::uint8_t* in, std::uint8_t* out,
                std::size_t size) noexcept {
    std::size_t i = 0;
    for (; size - i >= 16; i += 16) {
        const lanes text = load(in + i);
        store(out + i, text ^ load(stream + i));
        store(stream + i, text);
    }
    for (; i < size; ++i) {
        const std::uint8_t text = in[i];
        out[i] = static_cast<std::uint8_t>(stream[i] ^ text);
        stream[i] = text;
    }
}

}  // namespace

constinit const aead_kernel aead_portable{"portable", []() noexcept { return true; },
                                          keystream,  authenticate,
                                          seal_runs,  open_runs,
                                          renew,      seal_piece,
                                          open_piece};

}  // namespace culvert::crypto
