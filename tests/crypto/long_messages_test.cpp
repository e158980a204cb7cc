// Messages of 1 GiB and more: minutes, so not part of the normal run (ctest -C long -L long).
#include <doctest/doctest.h>
#include <sodium.h>
#include <sys/mman.h>

#include <utility>

#include "crypto/sha3.hpp"
#include "tests/crypto/aead_cases.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

// NIST's "large data tests": the content again and again, here some 1 MiB at a time.
template <std::size_t Size>
void check_large_records(const char* path) {
    std::size_t count = 0;
    for (const vector_record& record : read_vectors(path)) {
        if (record.text("type") != "LDT") continue;
        ++count;
        const buffer content = record.bytes("content");
        buffer piece;
        while (piece.size() < (1 << 20)) piece.insert(piece.end(), content.begin(), content.end());
        crypto::sha3<Size> state;
        for (std::uint64_t left = record.number("total_bytes"); left != 0;) {
            const std::size_t now = std::min<std::uint64_t>(left, piece.size());
            state.absorb(bytes_view(piece).first(now));
            left -= now;
        }
        buffer digest(Size);
        std::move(state).finish(crypto::bytes(digest).first<Size>());
        CHECK(digest == record.bytes("md"));
    }
    CHECK(count == 4);
}

class large_memory {
  public:
    explicit large_memory(std::size_t size)
        : size_(size),
          memory_(::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        REQUIRE(memory_ != MAP_FAILED);
    }
    large_memory(const large_memory&) = delete;
    large_memory& operator=(const large_memory&) = delete;
    ~large_memory() { ::munmap(memory_, size_); }
    [[nodiscard]] crypto::bytes span() const {
        return {static_cast<std::uint8_t*>(memory_), size_};
    }

  private:
    std::size_t size_;
    void* memory_;
};

}  // namespace

TEST_CASE("NIST's records of 1 to 8 GiB") {
    check_large_records<28>("acvp/sha3_224.txt");
    check_large_records<32>("acvp/sha3_256.txt");
    check_large_records<48>("acvp/sha3_384.txt");
    check_large_records<64>("acvp/sha3_512.txt");
}

TEST_CASE("an AEAD message of more than 4 GiB in one update, against libsodium") {
    REQUIRE(sodium_init() >= 0);
    const large_memory ours((std::size_t{1} << 32) + 70001);
    const large_memory theirs(ours.span().size());
    aead_case c = counting_case(24, 0, 13);
    buffer tag(16), right(16);
    REQUIRE(long_nonce::seal(exactly<32>(c.key), exactly<24>(c.nonce), c.ad, ours.span(),
                             ours.span(), crypto::bytes(tag).first<16>(),
                             crypto::best_aead_kernel()));
    crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
        theirs.span().data(), right.data(), nullptr, theirs.span().data(), theirs.span().size(),
        c.ad.data(), c.ad.size(), nullptr, c.nonce.data(), c.key.data());
    CHECK(tag == right);
    CHECK(std::ranges::equal(ours.span(), theirs.span()));
}

}  // namespace culvert::tests
