// ChaCha20-Poly1305 with NEON: chooses sets and passes for what is asked. Four blocks of the cipher
// at once, and a run of 2 KiB in one pass with the authenticator (neon_pass.cpp). NEON belongs to
// the base of aarch64: every CPU has it.

#include "crypto/kernels/aarch64.hpp"
#include "crypto/kernels/neon.hpp"
#include "crypto/kernels/portable.hpp"
#include "crypto/secret.hpp"

#if CULVERT_AARCH64

namespace culvert::crypto {
namespace {

bool supported() noexcept {
    return true;
}

std::size_t keystream(chacha20_words& cipher, std::uint8_t* out, std::size_t blocks) noexcept {
    const std::uint8_t* begin = out;
    const std::uint32_t after = cipher[12] + static_cast<std::uint32_t>(blocks);
    if (blocks % neon::set_blocks == 1) {  // not a whole set for one block
        neon::stream_block(cipher, out);
        out += 64;
        --blocks;
    }
    for (std::size_t made = 0; made < blocks; made += neon::set_blocks, out += neon::set_size) {
        neon::stream_set(cipher, out);
    }
    cipher[12] = after;
    return static_cast<std::size_t>(out - begin) / 64;
}

// Whole sets.
void xor_sets(chacha20_words& cipher, const std::uint8_t* in, std::uint8_t* out,
              std::size_t sets) noexcept {
    for (; sets != 0; --sets, in += neon::set_size, out += neon::set_size) {
        neon::xor_set(cipher, in, out);
    }
}

void seal_runs(aead_state& state, const std::uint8_t* pending, const std::uint8_t* in,
               std::uint8_t* out, std::size_t runs) noexcept {
    for (; runs != 0; --runs, in += aead_run, out += aead_run) {
        if (pending != nullptr) {
            neon::xor_mac_run(state, pending, in, out);
        } else {
            xor_sets(state.cipher, in, out, aead_run_blocks / neon::set_blocks);
        }
        pending = out;
    }
}

void open_runs(aead_state& state, const std::uint8_t* in, std::uint8_t* out,
               std::size_t runs) noexcept {
    for (; runs != 0; --runs, in += aead_run, out += aead_run) {
        neon::xor_mac_run(state, in, in, out);
    }
}

// The compiler's code for the portable ones is NEON already.
void seal_piece(std::uint8_t* stream, const std::uint8_t* in, std::uint8_t* out,
                std::size_t size) noexcept {
    aead_portable.seal_piece(stream, in, out, size);
}
void open_piece(std::uint8_t* stream, const std::uint8_t* in, std::uint8_t* out,
                std::size_t size) noexcept {
    aead_portable.open_piece(stream, in, out, size);
}

void xor_blocks(chacha20_words& cipher, const std::uint8_t* in, std::uint8_t* out,
                std::size_t blocks) noexcept {
    const std::size_t whole = blocks - blocks % neon::set_blocks;
    xor_sets(cipher, in, out, whole / neon::set_blocks);
    if (whole == blocks) return;
    wiped<std::array<std::uint8_t, neon::set_size + 64>> stream;
    keystream(cipher, stream->data(), blocks - whole);
    open_piece(stream->data(), in + 64 * whole, out + 64 * whole, 64 * (blocks - whole));
}

}  // namespace

constinit const chacha20_kernel chacha20_neon{"neon", supported, xor_blocks, neon::set_blocks};
constinit const aead_kernel aead_neon{"neon",
                                      supported,
                                      keystream,
                                      neon::authenticate,
                                      seal_runs,
                                      open_runs,
                                      neon::stream_mac_run,
                                      seal_piece,
                                      open_piece};

}  // namespace culvert::crypto

#endif
