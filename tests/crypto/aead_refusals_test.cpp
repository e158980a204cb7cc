// What the AEADs refuse, and what they leave behind: limits, overlaps, late additional data, wrong
// tags, wrong sizes, objects that have ended.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "tests/crypto/aead_feeding.hpp"

namespace culvert::tests {
namespace {

using crypto::status;

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
                           crypto::bytes(tag).first<16>(), crypto::best_aead_kernel()));
    CHECK(tag == buffer(16));
    CHECK_FALSE(Aead::open(key, nonce, {}, whole.first(limit + 1), exactly<16>(c.tag), {},
                           crypto::best_aead_kernel()));

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
    REQUIRE(Aead::seal(key, nonce, c.ad, memory, memory, tag_out, crypto::best_aead_kernel()));
    CHECK(memory == c.ciphertext);
    CHECK(tag == c.tag);
    REQUIRE(
        Aead::open(key, nonce, c.ad, memory, exactly<16>(tag), memory, crypto::best_aead_kernel()));
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
        CHECK_FALSE(Aead::seal(key, nonce, c.ad, in, out, tag_out, crypto::best_aead_kernel()));
        CHECK(encryptor.update(in, out) == status::overlap);
        CHECK(decryptor.update(in, out) == status::overlap);
    }
    CHECK_FALSE(
        Aead::seal(key, nonce, c.ad, in, in.first(999), tag_out, crypto::best_aead_kernel()));
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
    CHECK_FALSE(long_nonce::open(key, nonce, {}, memory, exactly<16>(c.tag), memory,
                                 crypto::best_aead_kernel()));
    CHECK(all_zero(memory));
    buffer longer(200, 0xaa);
    CHECK_FALSE(long_nonce::open(key, nonce, {}, c.ciphertext, exactly<16>(c.tag), longer,
                                 crypto::best_aead_kernel()));
    CHECK(all_zero(longer));
    buffer shorter(99, 0xaa);
    CHECK_FALSE(long_nonce::open(key, nonce, {}, c.ciphertext, exactly<16>(c.tag), shorter,
                                 crypto::best_aead_kernel()));
    CHECK(all_zero(shorter));
}

TEST_CASE("open reads the tag before it writes, wherever the output lies") {
    const aead_case c = sealed_case<short_nonce>(16, 0);
    buffer memory = c.tag;
    CHECK(short_nonce::open(exactly<32>(c.key), exactly<12>(c.nonce), {}, c.ciphertext,
                            exactly<16>(memory), memory, crypto::best_aead_kernel()));
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

TEST_CASE("an object that is assigned to forgets its own message and goes on with the other") {
    const aead_case c = sealed_case<long_nonce>(100, 0);
    buffer text(100);
    auto first = make_decryptor<long_nonce>(c);
    REQUIRE(first.update(bytes_view(c.ciphertext).first(30), text) == status::ok);
    auto second = make_decryptor<long_nonce>(c);
    buffer other(7);
    REQUIRE(second.update(bytes_view(c.ciphertext).first(7), other) == status::ok);
    second = std::move(first);
    CHECK_FALSE(std::move(first).finish(exactly<16>(c.tag)));  // NOLINT
    REQUIRE(second.update(bytes_view(c.ciphertext).subspan(30), crypto::bytes(text).subspan(30)) ==
            status::ok);
    CHECK(std::move(second).finish(exactly<16>(c.tag)));
    CHECK(text == c.plaintext);
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
