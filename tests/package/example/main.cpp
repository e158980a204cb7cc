// Prints the SHA3-256 of its argument; then seals it in one call, and again in pieces, and opens
// it.
#include "crypto/bytes.hpp"

#include <algorithm>
#include <array>
#include <culvert/crypto/random.hpp>
#include <culvert/crypto/sha3.hpp>
#include <culvert/crypto/xchacha20poly1305.hpp>
#include <utility>
#include <vector>

namespace crypto = culvert::crypto;
namespace aead = crypto::xchacha20poly1305;

using buffer = std::vector<std::uint8_t>;
using tag = std::array<std::uint8_t, aead::tag_size>;

namespace {

struct keys {
    keys() {
        crypto::fill_random(key);
        crypto::fill_random(nonce);
    }
    std::array<std::uint8_t, aead::key_size> key{};
    std::array<std::uint8_t, aead::nonce_size> nonce{};
};

// Byte by byte, what one call has done at once.
bool same_in_pieces(const keys& with, const buffer& text, const buffer& sealed,
                    const tag& expected) {
    aead::encryptor message(with.key, with.nonce);
    buffer out(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (message.update({&text[i], 1}, {&out[i], 1}) != crypto::status::ok) return false;
    }
    tag got{};
    std::move(message).finish(got);
    return out == sealed && got == expected;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::string_view given(argv[1]);
    const buffer text(given.begin(), given.end());

    std::array<std::uint8_t, 32> digest{};
    crypto::sha3_256::hash(text, digest);
    print_hex(digest);

    const keys with;
    buffer sealed(text.size());
    tag seal{};
    if (!aead::seal(with.key, with.nonce, {}, text, sealed, seal)) return 1;
    std::printf("%s in pieces\n", same_in_pieces(with, text, sealed, seal) ? "same" : "different");

    buffer opened(text.size());
    const bool genuine = aead::open(with.key, with.nonce, {}, sealed, seal, opened);
    std::printf("%s\n", genuine && opened == text ? "opened" : "not opened");
    seal[0] ^= 1;
    const bool refused = !aead::open(with.key, with.nonce, {}, sealed, seal, opened);
    std::printf("changed: %s\n", refused ? "refused" : "opened");
}
