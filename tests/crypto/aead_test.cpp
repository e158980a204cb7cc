// The contract of the AEADs, in one shot and piecewise, and cases from public reports about others.
// Everything runs for both nonce sizes, and where it reaches the kernels once for each.
#include <doctest/doctest.h>
#include <sodium.h>
#include <sys/mman.h>

#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "tests/crypto/aead_cases.hpp"

namespace culvert::tests {
namespace {

using crypto::status;

// The object fed in pieces of the given sizes, additional data first, in place.
template <class Object>
buffer feed(Object& object, const buffer& ad, const std::vector<std::size_t>& ad_sizes, buffer text,
            const std::vector<std::size_t>& sizes) {
    std::size_t at = 0;
    for (const std::size_t size : ad_sizes) {
        REQUIRE(object.add_ad(bytes_view(ad).subspan(at, size)) == status::ok);
        at += size;
    }
    at = 0;
    for (const std::size_t size : sizes) {
        const crypto::bytes piece = crypto::bytes(text).subspan(at, size);
        REQUIRE(object.update(piece, piece) == status::ok);
        at += size;
    }
    return text;
}

template <class Encryptor>
buffer tag_of(Encryptor encryptor) {
    buffer tag(16);
    std::move(encryptor).finish(crypto::bytes(tag).first<16>());
    return tag;
}

template <class Aead>
aead_case sealed_case(std::size_t text_size, std::size_t ad_size) {
    return Aead::oracle(counting_case(Aead::nonce_size, text_size, ad_size));
}

bool all_zero(bytes_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// Addresses that may be counted but not touched: for sizes that no test can encrypt.
class untouchable {
  public:
    explicit untouchable(std::size_t size)
        : size_(size),
          memory_(::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                         0)) {
        REQUIRE(memory_ != MAP_FAILED);
    }
    untouchable(const untouchable&) = delete;
    untouchable& operator=(const untouchable&) = delete;
    ~untouchable() { ::munmap(memory_, size_); }
    [[nodiscard]] crypto::bytes span() const {
        return {static_cast<std::uint8_t*>(memory_), size_};
    }

  private:
    std::size_t size_;
    void* memory_;
};

// Keys, nonces and tags of other sizes do not compile, so that nobody can cut a long nonce short.
template <std::size_t N>
using array_of = const std::array<std::uint8_t, N>&;
template <std::size_t N>
constexpr bool takes_key_of =
    std::is_constructible_v<crypto::chacha20poly1305::encryptor, array_of<N>, array_of<12>>;
template <class Aead, std::size_t N>
constexpr bool takes_nonce_of =
    std::is_constructible_v<typename Aead::encryptor, array_of<32>, array_of<N>>;
template <class Aead, std::size_t N>
constexpr bool takes_tag_of = requires(typename Aead::decryptor message, array_of<N> tag) {
    std::move(message).finish(tag);
};

}  // namespace

TEST_CASE_TEMPLATE(
    "libsodium agrees on every length up to twice the widest kernel and on long ones", Aead,
    short_nonce, long_nonce) {
    REQUIRE(sodium_init() >= 0);
    random_source random;
    for (const auto& kernels : aead_kernel_sets()) {
        CAPTURE(std::string(kernels.cipher.name));
        CAPTURE(std::string(kernels.mac.name));
        for (std::size_t size = 0; size <= 2 * widest_aead_kernel() + 1 + 150; ++size) {
            const auto c =
                Aead::oracle(random_aead_case(random, Aead::nonce_size, size, random.below(70)));
            if (seal<Aead>(c, kernels) != sealed{c.ciphertext, c.tag}) FAIL("wrong at " << size);
            if (open<Aead>(c, kernels).plaintext != c.plaintext) FAIL("opened wrong at " << size);
        }
        for (int i = 0; i < 60; ++i) {
            const auto c = Aead::oracle(random_aead_case(random, Aead::nonce_size,
                                                         random.below(100000), random.below(3000)));
            CHECK(seal<Aead>(c, kernels) == sealed{c.ciphertext, c.tag});
            CHECK(open<Aead>(c, kernels).verified);
        }
    }
}

// cryptonite #117, wolfSSL #2709 and #3354, bc-java #674: the tag or the text depended on how the
// message was cut.
TEST_CASE_TEMPLATE("any partition of a message gives the text and tag of one shot", Aead,
                   short_nonce, long_nonce) {
    random_source random;
    const aead_case c = sealed_case<Aead>(65536, 1000);
    for (const auto& kernels : aead_kernel_sets()) {
        CAPTURE(std::string(kernels.cipher.name));
        CAPTURE(std::string(kernels.mac.name));
        for (int round = 0; round < (sanitized ? 200 : 2000); ++round) {
            auto encryptor = make_encryptor<Aead>(c, kernels);
            const buffer ciphertext = feed(encryptor, c.ad, random.partition(c.ad.size()),
                                           c.plaintext, random.partition(c.plaintext.size()));
            if (ciphertext != c.ciphertext) FAIL("wrong ciphertext in round " << round);
            if (tag_of(std::move(encryptor)) != c.tag) FAIL("wrong tag in round " << round);

            auto decryptor = make_decryptor<Aead>(c, kernels);
            const buffer plaintext = feed(decryptor, c.ad, random.partition(c.ad.size()),
                                          c.ciphertext, random.partition(c.ciphertext.size()));
            if (plaintext != c.plaintext) FAIL("wrong plaintext in round " << round);
            if (!std::move(decryptor).finish(exactly<16>(c.tag))) FAIL("refused in " << round);
        }
    }
}

TEST_CASE("XChaCha20-Poly1305 tags at lengths around blocks, pieces and pads") {
    const struct {
        std::size_t text_size, ad_size;
        const char* tag;
    } cases[] = {
        {0, 0, "c37cd9ed462925e24ca30f972ce1a931"},
        {0, 1, "45b80254a3958b0c9ad1fc749d34ee5f"},
        {1, 0, "90937d45ad67f79e015cdf54fa3086ae"},
        {15, 16, "dc1a7c4c28eba7febef8326cbf03e9f1"},
        {16, 15, "80fc0dcd95639b2f8eb8c720953a7c68"},
        {63, 0, "f04f6f515bbd6b351e59431f64cbc76d"},
        {64, 17, "6910b915f8d0ab3b1bced6ac0aa51bc6"},
        {65, 0, "9bc51d22b3c98531876d23aa7ee1cdac"},
        {1024, 12, "7de4188b56cd9edddcdd5f530cb394bf"},
        {16384, 0, "bcccd4918a376ad3a6e0371e134ca37c"},
        {65536, 13, "314388ffe6ba9ae5e3639f64a131a5ce"},
    };
    for (const auto& kernels : aead_kernel_sets()) {
        for (const auto& [text_size, ad_size, tag] : cases) {
            CHECK(to_hex(seal<long_nonce>(counting_case(24, text_size, ad_size), kernels).tag) ==
                  tag);
        }
    }
}

// weidai11/cryptopp #1069, #1362 and #1363: wide code that added in 64-bit lanes got one bit wrong
// in rare blocks. In these messages key stream word 12 of a block is zero, so that such a carry
// shows; the block stands at another place in the run of a wide kernel each time.
TEST_CASE("blocks whose word 12 comes out as zero carry nothing into word 13") {
    const struct {
        const char* nonce_end;
        std::size_t size;
        const char* tag;
        std::size_t at;
        const char* ciphertext;
    } cases[] = {
        {"023a460000000000", 32768, "6157e8602b52a32e73640c0e6bdb87c0", 19312,
         "00000000cac1e24957adf0b920c36910"},
        {"023a460000000000", 65536, "41c0841db3c1ca90b5695b95ee30b62a", 19312,
         "00000000cac1e24957adf0b920c36910"},
        {"f59f6c0000000000", 65536, "95f44be621eb544976d4378426b0c610", 53680,
         "000000007af2eb473b0bdae8d427d91b"},
        {"cefa1c0000000000", 65536, "ed88f9980348ac0a62cc42fc0e95d92c", 64 * 412 + 48, "00000000"},
    };
    for (const auto& kernels : aead_kernel_sets()) {
        CAPTURE(std::string(kernels.cipher.name));
        for (const auto& [nonce_end, size, tag, at, ciphertext] : cases) {
            aead_case c = counting_case(24, 0, 0);
            c.plaintext.assign(size, 0);
            c.nonce = joined(buffer(16), from_hex(nonce_end));
            const sealed made = seal<long_nonce>(c, kernels);
            CHECK(to_hex(made.tag) == tag);
            const buffer right = from_hex(ciphertext);
            CHECK(to_hex(bytes_view(made.ciphertext).subspan(at, right.size())) == ciphertext);
        }
    }
}

// dryoc #73, OpenJCEPlus #1196, wolfSSL #2706: additional data above one block, in pieces, or none.
TEST_CASE_TEMPLATE(
    "additional data of every length up to 65 in every two pieces gives the same tag", Aead,
    short_nonce, long_nonce) {
    for (std::size_t size = 0; size <= 65; ++size) {
        for (const std::size_t text_size : sizes{0, 1, 16, 100}) {
            const aead_case c = sealed_case<Aead>(text_size, size);
            for (std::size_t cut = 0; cut <= size; ++cut) {
                auto encryptor = make_encryptor<Aead>(c);
                CHECK(feed(encryptor, c.ad, {cut, size - cut}, c.plaintext, {text_size}) ==
                      c.ciphertext);
                CHECK(tag_of(std::move(encryptor)) == c.tag);
            }
        }
    }
}

TEST_CASE_TEMPLATE("additional data after the first byte of text is refused and changes nothing",
                   Aead, short_nonce, long_nonce) {
    const aead_case c = sealed_case<Aead>(40, 20);
    auto encryptor = make_encryptor<Aead>(c);
    auto decryptor = make_decryptor<Aead>(c);
    auto opener = make_opener<Aead>(c);
    buffer made(40), text(40), streamed(40);
    for (const std::size_t begin : sizes{0, 10}) {  // an empty piece of text is no text yet
        REQUIRE(encryptor.add_ad(bytes_view(c.ad).subspan(begin, 10)) == status::ok);
        REQUIRE(decryptor.add_ad(bytes_view(c.ad).subspan(begin, 10)) == status::ok);
        REQUIRE(opener.add_ad(bytes_view(c.ad).subspan(begin, 10)) == status::ok);
        REQUIRE(encryptor.update({}, {}) == status::ok);
        REQUIRE(decryptor.update({}, {}) == status::ok);
        REQUIRE(opener.update({}, {}).result == status::ok);
    }
    REQUIRE(encryptor.update(bytes_view(c.plaintext).first(1), made) == status::ok);
    REQUIRE(decryptor.update(bytes_view(c.ciphertext).first(1), text) == status::ok);
    REQUIRE(opener.update(bytes_view(c.ciphertext).first(1), streamed).result == status::ok);
    CHECK(encryptor.add_ad(c.ad) == status::late_ad);
    CHECK(decryptor.add_ad(c.ad) == status::late_ad);
    CHECK(opener.add_ad(c.ad) == status::late_ad);
    REQUIRE(encryptor.update(bytes_view(c.plaintext).subspan(1), crypto::bytes(made).subspan(1)) ==
            status::ok);
    REQUIRE(decryptor.update(bytes_view(c.ciphertext).subspan(1), crypto::bytes(text).subspan(1)) ==
            status::ok);
    REQUIRE(opener.update(joined(bytes_view(c.ciphertext).subspan(1), c.tag), streamed).result ==
            status::ok);
    CHECK(made == c.ciphertext);
    CHECK(tag_of(std::move(encryptor)) == c.tag);
    CHECK(std::move(decryptor).finish(exactly<16>(c.tag)));
    CHECK(std::move(opener).finish());
    CHECK(streamed == c.plaintext);
}

// RustCrypto/stream-ciphers #64, aead/chacha20 #16, OpenSSL #15193: messages beyond the counter.
TEST_CASE_TEMPLATE("more than 2^38 − 64 bytes are refused by every form before any output", Aead,
                   short_nonce, long_nonce) {
    constexpr std::size_t limit = (std::size_t{1} << 38) - 64;
    static_assert(crypto::chacha20poly1305::max_message == limit);
    const untouchable memory(limit + 4096);
    const crypto::bytes whole = memory.span();
    const aead_case c = sealed_case<Aead>(100, 0);
    const auto key = exactly<32>(c.key);
    const auto nonce = exactly<Aead::nonce_size>(c.nonce);
    buffer tag(16);
    CHECK_FALSE(Aead::seal(key, nonce, {}, whole.first(limit + 1), whole,
                           crypto::bytes(tag).first<16>(), {}));
    CHECK(tag == buffer(16));
    CHECK_FALSE(Aead::open(key, nonce, {}, whole.first(limit + 1), exactly<16>(c.tag), {}, {}));

    auto encryptor = make_encryptor<Aead>(c);
    auto decryptor = make_decryptor<Aead>(c);
    auto opener = make_opener<Aead>(c);
    CHECK(encryptor.remaining() == limit);
    CHECK(encryptor.update(whole.first(limit + 1), whole) == status::data_limit);
    CHECK(decryptor.update(whole.first(limit + 1), whole) == status::data_limit);
    CHECK(opener.update(whole.first(limit + 16 + 1), whole).result == status::data_limit);

    buffer made(100), text(100), streamed(100);
    REQUIRE(encryptor.update(bytes_view(c.plaintext).first(50), made) == status::ok);
    REQUIRE(decryptor.update(bytes_view(c.ciphertext).first(50), text) == status::ok);
    REQUIRE(opener.update(bytes_view(c.ciphertext).first(50), streamed).written == 34);
    CHECK(encryptor.remaining() == limit - 50);
    CHECK(encryptor.update(whole.first(limit - 49), whole) == status::data_limit);
    CHECK(decryptor.update(whole.first(limit - 49), whole) == status::data_limit);
    CHECK(opener.update(whole.first(limit - 33), whole).result == status::data_limit);

    REQUIRE(encryptor.update(bytes_view(c.plaintext).subspan(50),
                             crypto::bytes(made).subspan(50)) == status::ok);
    REQUIRE(decryptor.update(bytes_view(c.ciphertext).subspan(50),
                             crypto::bytes(text).subspan(50)) == status::ok);
    REQUIRE(opener
                .update(joined(bytes_view(c.ciphertext).subspan(50), c.tag),
                        crypto::bytes(streamed).subspan(34))
                .written == 66);
    CHECK(made == c.ciphertext);
    CHECK(tag_of(std::move(encryptor)) == c.tag);
    CHECK(std::move(decryptor).finish(exactly<16>(c.tag)));
    CHECK(std::move(opener).finish());
    CHECK(streamed == c.plaintext);
}

// pyca/cryptography #15656: output shifted against the input gave a wrong text with a right tag.
// libsodium #196, openj9 #744: in place and shifted by a little.
TEST_CASE_TEMPLATE(
    "in place works; a partial overlap and a short output are refused, changing nothing", Aead,
    short_nonce, long_nonce) {
    const aead_case c = sealed_case<Aead>(1000, 5);
    const auto key = exactly<32>(c.key);
    const auto nonce = exactly<Aead::nonce_size>(c.nonce);
    buffer tag(16);
    const auto tag_out = crypto::bytes(tag).first<16>();

    buffer memory = c.plaintext;
    REQUIRE(Aead::seal(key, nonce, c.ad, memory, memory, tag_out, {}));
    CHECK(memory == c.ciphertext);
    CHECK(tag == c.tag);
    REQUIRE(Aead::open(key, nonce, c.ad, memory, exactly<16>(tag), memory, {}));
    CHECK(memory == c.plaintext);

    buffer wide = joined(buffer(100), joined(c.plaintext, buffer(100)));
    const buffer before = wide;
    const crypto::bytes in = crypto::bytes(wide).subspan(100, 1000);
    tag.assign(16, 0x55);
    auto encryptor = make_encryptor<Aead>(c);
    auto decryptor = make_decryptor<Aead>(c);
    REQUIRE(encryptor.add_ad(c.ad) == status::ok);
    REQUIRE(decryptor.add_ad(c.ad) == status::ok);
    for (const int shift : {-100, -64, -17, -16, -12, -1, 1, 12, 16, 17, 64, 100}) {
        CAPTURE(shift);
        const crypto::bytes out(in.data() + shift, 1000);
        CHECK_FALSE(Aead::seal(key, nonce, c.ad, in, out, tag_out, {}));
        CHECK(encryptor.update(in, out) == status::overlap);
        CHECK(decryptor.update(in, out) == status::overlap);
    }
    CHECK_FALSE(Aead::seal(key, nonce, c.ad, in, in.first(999), tag_out, {}));
    CHECK(encryptor.update(in, in.first(999)) == status::short_output);
    CHECK(decryptor.update(in, in.first(999)) == status::short_output);
    CHECK(wide == before);
    CHECK(tag == buffer(16, 0x55));

    REQUIRE(encryptor.update(in, in) == status::ok);
    CHECK(std::ranges::equal(in, c.ciphertext));
    REQUIRE(decryptor.update(in, in) == status::ok);
    CHECK(wide == before);
    CHECK(tag_of(std::move(encryptor)) == c.tag);
    CHECK(std::move(decryptor).finish(exactly<16>(c.tag)));
}

TEST_CASE("output that lies right behind the input, or before it, is no overlap") {
    const aead_case c = sealed_case<short_nonce>(300, 0);
    for (const bool behind : {false, true}) {
        buffer memory =
            behind ? joined(c.plaintext, buffer(300)) : joined(buffer(300), c.plaintext);
        const crypto::bytes low = crypto::bytes(memory).first(300);
        const crypto::bytes high = crypto::bytes(memory).last(300);
        auto encryptor = make_encryptor<short_nonce>(c);
        REQUIRE(encryptor.update(behind ? low : high, behind ? high : low) == status::ok);
        CHECK(std::ranges::equal(behind ? high : low, c.ciphertext));
    }
}

// noble-ciphers #47 (misaligned views refused), chachapoly #2 (alignment).
TEST_CASE("every alignment of input against output gives the same text and tag") {
    const aead_case c = sealed_case<long_nonce>(400, 13);
    for (const auto& kernels : aead_kernel_sets()) {
        CAPTURE(std::string(kernels.cipher.name));
        CAPTURE(std::string(kernels.mac.name));
        buffer from(464), to(464), tag(16);
        for (std::size_t i = 0; i < 64; ++i) {
            for (std::size_t j = 0; j < 64; j += stride(5)) {
                const crypto::bytes in = crypto::bytes(from).subspan(i, 400);
                const crypto::bytes out = crypto::bytes(to).subspan(j, 400);
                std::copy(c.plaintext.begin(), c.plaintext.end(), in.begin());
                if (!long_nonce::seal(exactly<32>(c.key), exactly<24>(c.nonce), c.ad, in, out,
                                      crypto::bytes(tag).first<16>(), kernels) ||
                    !std::ranges::equal(out, c.ciphertext) || tag != c.tag) {
                    FAIL("wrong at offsets " << i << ", " << j);
                }
            }
        }
    }
}

TEST_CASE("nothing behind input, additional data and output is touched, and the input stays") {
    random_source random;
    for (const auto& kernels : aead_kernel_sets()) {
        CAPTURE(std::string(kernels.cipher.name));
        CAPTURE(std::string(kernels.mac.name));
        for (std::size_t size = 0; size <= 2 * widest_aead_kernel() + 17; size += 1 + size / 100) {
            const auto c = long_nonce::oracle(random_aead_case(random, 24, size, size % 40));
            const guarded_buffer in{bytes_view(c.plaintext)};
            const guarded_buffer ad{bytes_view(c.ad)};
            const guarded_buffer out(size);
            const guarded_buffer tag(16);
            REQUIRE(long_nonce::seal(exactly<32>(c.key), exactly<24>(c.nonce), ad.span(), in.span(),
                                     out.span(), tag.span().first<16>(), kernels));
            CHECK(std::ranges::equal(out.span(), c.ciphertext));
            CHECK(std::ranges::equal(tag.span(), c.tag));
            CHECK(std::ranges::equal(in.span(), c.plaintext));
            REQUIRE(long_nonce::open(exactly<32>(c.key), exactly<24>(c.nonce), ad.span(),
                                     out.span(), exactly<16>(tag.span()), out.span(), kernels));
            CHECK(std::ranges::equal(out.span(), c.plaintext));
        }
    }
}

// erlang/otp #4032, mongoose #3303 (tag never checked), rnp #2422, RustCrypto/AEADs #551 (plaintext
// left after a failure).
TEST_CASE_TEMPLATE(
    "each wrong bit of tag, text, additional data and nonce is seen and no text is left", Aead,
    short_nonce, long_nonce) {
    const aead_case c = sealed_case<Aead>(200, 20);
    REQUIRE(open<Aead>(c).verified);
    for (buffer aead_case::*part : {&aead_case::tag, &aead_case::ciphertext, &aead_case::ad,
                                    &aead_case::nonce, &aead_case::key}) {
        for (std::size_t bit = 0; bit < 8 * (c.*part).size(); ++bit) {
            aead_case wrong = c;
            std::uint8_t& byte = (wrong.*part)[bit / 8];
            byte = static_cast<std::uint8_t>(byte ^ (1u << bit % 8));
            const opened result = open<Aead>(wrong);
            if (result.verified || !all_zero(result.plaintext)) FAIL("bit " << bit);

            auto decryptor = make_decryptor<Aead>(wrong);
            const buffer text = feed(decryptor, wrong.ad, {wrong.ad.size()}, wrong.ciphertext,
                                     {wrong.ciphertext.size()});
            if (std::move(decryptor).finish(exactly<16>(wrong.tag))) FAIL("bit " << bit);
        }
    }
}

TEST_CASE("a failed open leaves zeros: in place, over a longer output, and when it is refused") {
    aead_case c = sealed_case<long_nonce>(100, 0);
    c.tag[0] ^= 1;
    const auto key = exactly<32>(c.key);
    const auto nonce = exactly<24>(c.nonce);
    buffer memory = c.ciphertext;
    CHECK_FALSE(long_nonce::open(key, nonce, {}, memory, exactly<16>(c.tag), memory, {}));
    CHECK(all_zero(memory));
    buffer longer(200, 0xaa);
    CHECK_FALSE(long_nonce::open(key, nonce, {}, c.ciphertext, exactly<16>(c.tag), longer, {}));
    CHECK(all_zero(longer));
    buffer shorter(99, 0xaa);
    CHECK_FALSE(long_nonce::open(key, nonce, {}, c.ciphertext, exactly<16>(c.tag), shorter, {}));
    CHECK(all_zero(shorter));
}

TEST_CASE("open reads the tag before it writes, wherever the output lies") {
    const aead_case c = sealed_case<short_nonce>(16, 0);
    buffer memory = c.tag;
    CHECK(short_nonce::open(exactly<32>(c.key), exactly<12>(c.nonce), {}, c.ciphertext,
                            exactly<16>(memory), memory, {}));
    CHECK(memory == c.plaintext);
}

// OpenSSL #8345 and CVE-2019-1543 (a long nonce was cut silently), pycryptodome #500 and #722.
TEST_CASE("keys, nonces and tags of other sizes do not compile") {
    static_assert(takes_key_of<32>);
    static_assert(!takes_key_of<16> && !takes_key_of<31> && !takes_key_of<33>);
    static_assert(takes_nonce_of<short_nonce, 12> && takes_nonce_of<long_nonce, 24>);
    static_assert(!takes_nonce_of<short_nonce, 8> && !takes_nonce_of<short_nonce, 24>);
    static_assert(!takes_nonce_of<long_nonce, 0> && !takes_nonce_of<long_nonce, 8>);
    static_assert(!takes_nonce_of<long_nonce, 12> && !takes_nonce_of<long_nonce, 23>);
    static_assert(!takes_nonce_of<long_nonce, 25>);
    static_assert(takes_tag_of<short_nonce, 16> && takes_tag_of<long_nonce, 16>);
    static_assert(!takes_tag_of<long_nonce, 0> && !takes_tag_of<long_nonce, 15>);
    static_assert(!takes_tag_of<long_nonce, 8> && !takes_tag_of<long_nonce, 17>);
}

TEST_CASE("an object that was moved from takes no text and verifies no tag; its target goes on") {
    const aead_case c = sealed_case<long_nonce>(100, 0);
    auto first = make_decryptor<long_nonce>(c);
    buffer text(100);
    REQUIRE(first.update(bytes_view(c.ciphertext).first(30), text) == status::ok);
    auto second = std::move(first);
    CHECK(first.update(bytes_view(c.ciphertext).first(1), text) == status::data_limit);  // NOLINT
    CHECK(first.add_ad(c.ad) == status::late_ad);
    CHECK_FALSE(std::move(first).finish(exactly<16>(buffer(16))));  // the tag of a wiped state
    REQUIRE(second.update(bytes_view(c.ciphertext).subspan(30), crypto::bytes(text).subspan(30)) ==
            status::ok);
    CHECK(std::move(second).finish(exactly<16>(c.tag)));
    CHECK_FALSE(std::move(second).finish(exactly<16>(c.tag)));  // NOLINT: ended once is ended
    CHECK(text == c.plaintext);
}

TEST_CASE("a decryptor can be kept by value and made again for each message") {
    std::optional<crypto::chacha20poly1305::decryptor> kept;
    for (std::size_t size = 0; size < 100; ++size) {
        const aead_case c = sealed_case<short_nonce>(size, 0);
        kept.emplace(exactly<32>(c.key), exactly<12>(c.nonce));
        buffer text(size);
        REQUIRE(kept->update(c.ciphertext, text) == status::ok);
        CHECK(std::move(*kept).finish(exactly<16>(c.tag)));
        CHECK(text == c.plaintext);
    }
}

TEST_CASE("nothing secret stays in memory when a message has ended") {
    using message = crypto::xchacha20poly1305::encryptor;
    const aead_case c = sealed_case<long_nonce>(100, 0);
    alignas(message) std::array<std::uint8_t, sizeof(message)> place{};
    auto* made = new (place.data()) message(exactly<32>(c.key), exactly<24>(c.nonce));
    buffer out(100);
    REQUIRE(made->update(c.plaintext, out) == status::ok);
    std::destroy_at(made);
    // The two kernel pointers are all that may be left.
    CHECK(std::count_if(place.begin(), place.end(), [](std::uint8_t byte) { return byte != 0; }) <=
          16);
}

}  // namespace culvert::tests
