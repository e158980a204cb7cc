// Decryption of a stream whose end, the tag, is known only when it has come.
#include <doctest/doctest.h>

#include <utility>

#include "tests/crypto/aead_cases.hpp"

namespace culvert::tests {
namespace {

using crypto::status;

template <class Aead>
aead_case sealed_case(std::size_t text_size, std::size_t ad_size = 7) {
    return Aead::oracle(counting_case(Aead::nonce_size, text_size, ad_size));
}

buffer stream_of(const aead_case& c) {
    return joined(c.ciphertext, c.tag);
}

// Fed in pieces of the given sizes, each output exactly as large as promised.
template <class Aead>
opened feed(const aead_case& c, bytes_view stream, const std::vector<std::size_t>& sizes,
            const crypto::aead_kernel& kernel = crypto::best_aead_kernel()) {
    auto opener = make_opener<Aead>(c, kernel);
    REQUIRE(opener.add_ad(c.ad) == status::ok);
    buffer text;
    std::size_t at = 0;
    for (const std::size_t size : sizes) {
        const guarded_buffer out(opener.output_size(size));
        const auto [result, written] = opener.update(stream.subspan(at, size), out.span());
        REQUIRE(result == status::ok);
        REQUIRE(written == out.span().size());
        text.insert(text.end(), out.span().begin(), out.span().end());
        at += size;
        CHECK(opener.held() == std::min<std::size_t>(at, 16));
    }
    return {std::move(opener).finish(), text};
}

}  // namespace

TEST_CASE_TEMPLATE("every cut in three of a short stream, also inside the tag", Aead, short_nonce,
                   long_nonce) {
    for (const std::size_t text_size : sizes{0, 1, 15, 16, 17, 40}) {
        const aead_case c = sealed_case<Aead>(text_size);
        const buffer stream = stream_of(c);
        for (std::size_t first = 0; first <= stream.size(); ++first) {
            for (std::size_t second = first; second <= stream.size(); second += stride(3)) {
                const opened result =
                    feed<Aead>(c, stream, {first, second - first, stream.size() - second});
                if (!result.verified || result.plaintext != c.plaintext) {
                    FAIL("wrong when cut at " << first << " and " << second);
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("pieces of any size, and one byte at a time", Aead, short_nonce, long_nonce) {
    random_source random;
    for (const auto& kernel : aead_kernel_sets()) {
        const aead_case c = sealed_case<Aead>(20000);
        const buffer stream = stream_of(c);
        for (int round = 0; round < (slowed ? 20 : 100); ++round) {
            const opened result = feed<Aead>(c, stream, random.partition(stream.size()), kernel);
            CHECK(result.verified);
            CHECK(result.plaintext == c.plaintext);
        }
        const aead_case small = sealed_case<Aead>(500);
        CHECK(feed<Aead>(small, stream_of(small), std::vector<std::size_t>(516, 1)).verified);
    }
}

TEST_CASE_TEMPLATE("the text can stay where it came", Aead, short_nonce, long_nonce) {
    random_source random;
    const aead_case c = sealed_case<Aead>(5000);
    for (int round = 0; round < 200; ++round) {
        buffer memory = stream_of(c);
        auto opener = make_opener<Aead>(c);
        REQUIRE(opener.add_ad(c.ad) == status::ok);
        std::size_t at = 0, done = 0;
        for (const std::size_t size : random.partition(memory.size())) {
            const crypto::bytes in = crypto::bytes(memory).subspan(at, size);
            const auto [result, written] = opener.update(in, crypto::bytes(memory).subspan(done));
            REQUIRE(result == status::ok);
            at += size;
            done += written;
        }
        CHECK(done == 5000);
        CHECK(std::move(opener).finish());
        memory.resize(5000);
        CHECK(memory == c.plaintext);
    }
}

TEST_CASE_TEMPLATE("a refused call changes nothing and can be repeated", Aead, short_nonce,
                   long_nonce) {
    const aead_case c = sealed_case<Aead>(300);
    const buffer stream = stream_of(c);
    auto opener = make_opener<Aead>(c);
    REQUIRE(opener.add_ad(c.ad) == status::ok);
    buffer text(300, 0xaa);
    REQUIRE(opener.update(bytes_view(stream).first(10), {}).result == status::ok);
    CHECK(opener.held() == 10);

    const bytes_view rest = bytes_view(stream).subspan(10);
    for (const std::size_t room : sizes{0, 1, 299}) {
        const auto [result, written] = opener.update(rest, crypto::bytes(text).first(room));
        CHECK(result == status::short_output);
        CHECK(written == 0);
    }
    CHECK(text == buffer(300, 0xaa));

    buffer memory = joined(buffer(400), joined(rest, buffer(400)));
    const buffer before = memory;
    const bytes_view in = bytes_view(memory).subspan(400, rest.size());
    for (const std::size_t out : sizes{400, 399, 391, 389, 384, 101, 401, 705}) {
        CAPTURE(out);  // 390 would be in place
        CHECK(opener.update(in, crypto::bytes(memory).subspan(out, 300)).result == status::overlap);
    }
    CHECK(memory == before);
    CHECK(opener.held() == 10);

    CHECK(opener.update(in, text).written == 300);
    CHECK(text == c.plaintext);
    CHECK(std::move(opener).finish());
}

TEST_CASE_TEMPLATE("streams that are cut short, damaged or too long are not verified", Aead,
                   short_nonce, long_nonce) {
    const aead_case c = sealed_case<Aead>(50);
    const buffer stream = stream_of(c);
    for (std::size_t size = 0; size < stream.size(); ++size) {
        CHECK_FALSE(feed<Aead>(c, stream, {size}).verified);
    }
    for (std::size_t bit = 0; bit < 8 * stream.size(); ++bit) {
        buffer wrong = stream;
        wrong[bit / 8] = static_cast<std::uint8_t>(wrong[bit / 8] ^ (1u << bit % 8));
        CHECK_FALSE(feed<Aead>(c, wrong, {wrong.size()}).verified);
    }
    const buffer longer = joined(stream, buffer(1));
    CHECK_FALSE(feed<Aead>(c, longer, {longer.size()}).verified);
}

TEST_CASE("an opener that was moved from verifies nothing") {
    const aead_case c = sealed_case<long_nonce>(0);
    auto first = make_opener<long_nonce>(c);
    REQUIRE(first.add_ad(c.ad) == status::ok);
    REQUIRE(first.update(stream_of(c), {}).result == status::ok);
    auto second = std::move(first);
    CHECK_FALSE(std::move(first).finish());  // NOLINT(bugprone-use-after-move)
    CHECK(std::move(second).finish());
}

}  // namespace culvert::tests
