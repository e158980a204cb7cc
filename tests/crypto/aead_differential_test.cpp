// Each kernel against the portable one, message by message: the same bytes, sizes and verdicts,
// whatever the pieces, the buffers, the damage on the way and the distance to the data limit.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "tests/crypto/aead_feeding.hpp"
#include "tests/crypto/message_access.hpp"

namespace culvert::tests {
namespace {

using crypto::aead_kernel;
using crypto::status;
using crypto::chacha20poly1305::max_message;
using crypto::chacha20poly1305::message_access;

const aead_kernel& portable() {
    return crypto::aead_kernel_table().back();
}

// Sizes of pieces: single bytes, borders of blocks and runs, anything up to 6,000.
std::size_t piece_size(random_source& random) {
    static constexpr std::array<std::size_t, 24> borders{
        0,   1,   15,  16,  17,  48,  63,   64,   65,   127,  128,  447,
        448, 449, 959, 960, 961, 976, 1023, 1024, 2047, 2048, 2049, 4096};
    switch (random.below(4)) {
        case 0:
            return 1;
        case 1:
            return borders[random.below(borders.size())];
        case 2:
            return random.below(200);
        default:
            return random.below(6001);
    }
}

std::vector<std::size_t> pieces(random_source& random, std::size_t total) {
    std::vector<std::size_t> sizes;
    while (total != 0) {
        sizes.push_back(std::min(total, piece_size(random)));
        total -= sizes.back();
    }
    return sizes;
}

struct fed {
    std::vector<status> results;
    buffer out;  // all of it, also what no update wrote
    bool operator==(const fed&) const = default;
};

status result_of(status result) {
    return result;
}
status result_of(const crypto::chacha20poly1305::progress& result) {
    return result.result;
}
template <class Object>
std::size_t writes(const Object& object, std::size_t in_size) {
    if constexpr (requires { object.output_size(in_size); }) return object.output_size(in_size);
    return in_size;
}

enum class room : std::uint8_t { exact, generous, short_first, in_place, overlapping_first };

// The text in pieces, each with the room that the plan says: what came back and what was written.
template <class Object>
fed feed_with(Object& object, const buffer& text, const std::vector<std::size_t>& sizes,
              const std::vector<room>& rooms) {
    fed result;
    std::size_t at = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const bytes_view in = bytes_view(text).subspan(at, sizes[i]);
        const std::size_t size = writes(object, sizes[i]);
        const bool spare = rooms[i] == room::generous;
        buffer out(size + (spare ? 70 : 0), 0xaa);
        if (rooms[i] == room::short_first && size != 0) {
            result.results.push_back(
                result_of(object.update(in, crypto::bytes(out).first(size - 1))));
        }
        if (rooms[i] == room::overlapping_first && size > 1) {
            buffer both(in.begin(), in.end());
            both.resize(2 * in.size() + 40);
            const auto shifted = crypto::bytes(both).subspan(1, size);
            result.results.push_back(
                result_of(object.update(bytes_view(both).first(in.size()), shifted)));
        }
        if (rooms[i] == room::in_place) {
            // Behind as many bytes as an opener may hold back.
            buffer both(16, 0xaa);
            both.insert(both.end(), in.begin(), in.end());
            std::size_t behind = 0;
            if constexpr (requires { object.held(); }) behind = object.held();
            const auto to = crypto::bytes(both).subspan(16 - behind);
            result.results.push_back(
                result_of(object.update(bytes_view(both).subspan(16), to.first(size))));
            out.assign(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(size));
        } else {
            result.results.push_back(result_of(object.update(in, out)));
        }
        result.out.insert(result.out.end(), out.begin(), out.end());
        at += sizes[i];
    }
    return result;
}

std::vector<room> random_rooms(random_source& random, std::size_t count) {
    std::vector<room> rooms(count);
    for (room& each : rooms) each = static_cast<room>(random.below(5));
    return rooms;
}

template <class Object>
void add_ad(Object& object, const buffer& ad, const std::vector<std::size_t>& sizes) {
    std::size_t at = 0;
    for (const std::size_t size : sizes) {
        REQUIRE(object.add_ad(bytes_view(ad).subspan(at, size)) == status::ok);
        at += size;
    }
}

// Something wrong with text or tag, one time in two.
bool damage(random_source& random, buffer& stream) {
    switch (random.below(4)) {
        case 0: {
            const std::size_t bit = random.below(8 * stream.size());
            stream[bit / 8] = static_cast<std::uint8_t>(stream[bit / 8] ^ (1u << bit % 8));
            return true;
        }
        case 1:
            stream.resize(stream.size() - 1 -
                          random.below(std::min<std::size_t>(20, stream.size())));
            return true;
        default:
            return false;
    }
}

template <class Aead>
void compare(random_source& random, const aead_kernel& kernel) {
    const std::size_t size = random.below(3) == 0 ? random.below(300) : random.below(14000);
    aead_case c = random_aead_case(random, Aead::nonce_size, size,
                                   random.below(3) == 0 ? random.below(700) : random.below(40));
    const auto ad_sizes = pieces(random, c.ad.size());

    // Encrypt, at times with the limit a few blocks behind the end or before it.
    auto ours = make_encryptor<Aead>(c, kernel);
    auto theirs = make_encryptor<Aead>(c, portable());
    add_ad(ours, c.ad, ad_sizes);
    add_ad(theirs, c.ad, pieces(random, c.ad.size()));
    const bool near = random.below(8) == 0;
    if (near) {
        const std::uint64_t left = 64 * random.below(size / 64 + 4);
        message_access::skip(ours, max_message - left);
        message_access::skip(theirs, max_message - left);
    }
    const auto sizes = pieces(random, size);
    const auto rooms = random_rooms(random, sizes.size());
    const fed made = feed_with(ours, c.plaintext, sizes, rooms);
    REQUIRE(made == feed_with(theirs, c.plaintext, sizes, rooms));
    REQUIRE(ours.remaining() == theirs.remaining());
    c.tag = tag_of(std::move(ours));
    REQUIRE(c.tag == tag_of(std::move(theirs)));
    if (near) return;

    const sealed whole = seal<Aead>(c, kernel);
    REQUIRE(whole == seal<Aead>(c, portable()));
    REQUIRE(whole.tag == c.tag);
    c.ciphertext = whole.ciphertext;

    // Decrypt as text and tag, and as a stream, whole or damaged.
    buffer stream = joined(c.ciphertext, c.tag);
    const bool damaged = damage(random, stream);
    const auto stream_sizes = pieces(random, stream.size());
    const auto stream_rooms = random_rooms(random, stream_sizes.size());
    auto opener = make_opener<Aead>(c, kernel);
    auto other_opener = make_opener<Aead>(c, portable());
    add_ad(opener, c.ad, ad_sizes);
    add_ad(other_opener, c.ad, ad_sizes);
    REQUIRE(feed_with(opener, stream, stream_sizes, stream_rooms) ==
            feed_with(other_opener, stream, stream_sizes, stream_rooms));
    REQUIRE(std::move(opener).finish() == !damaged);
    REQUIRE(std::move(other_opener).finish() == !damaged);
    if (stream.size() < 16) return;

    c.ciphertext.assign(stream.begin(), stream.end() - 16);
    c.tag.assign(stream.end() - 16, stream.end());
    auto decryptor = make_decryptor<Aead>(c, kernel);
    auto other_decryptor = make_decryptor<Aead>(c, portable());
    add_ad(decryptor, c.ad, ad_sizes);
    add_ad(other_decryptor, c.ad, ad_sizes);
    const auto text_sizes = pieces(random, c.ciphertext.size());
    const auto text_rooms = random_rooms(random, text_sizes.size());
    REQUIRE(feed_with(decryptor, c.ciphertext, text_sizes, text_rooms) ==
            feed_with(other_decryptor, c.ciphertext, text_sizes, text_rooms));
    REQUIRE(std::move(decryptor).finish(exactly<16>(c.tag)) == !damaged);
    REQUIRE(std::move(other_decryptor).finish(exactly<16>(c.tag)) == !damaged);
    const opened result = open<Aead>(c, kernel);
    REQUIRE(result.verified == !damaged);
    REQUIRE(result.plaintext == (damaged ? buffer(c.ciphertext.size()) : c.plaintext));
}

}  // namespace

TEST_CASE_TEMPLATE("4,000 random messages under each of three seeds", Aead, short_nonce,
                   long_nonce) {
    for (const aead_kernel& kernel : aead_kernel_sets()) {
        if (kernel.name == std::string_view("portable")) continue;
        CAPTURE(std::string(kernel.name));
        for (int seed = 0; seed < 3; ++seed) {
            random_source random;
            for (int i = 0; i < (slowed ? 200 : 4000); ++i) compare<Aead>(random, kernel);
        }
    }
}

// The borders of blocks, of the key stream made first, of runs, and of what is fused.
TEST_CASE("every piece size from 1 to 161 for lengths around every border") {
    std::vector<std::size_t> lengths;
    for (const std::size_t border :
         sizes{0, 64, 128, 256, 512, 960, 1024, 2048, 3008, 4096, 6144}) {
        for (const std::size_t near : sizes{0, 1, 2, 15, 16, 17, 18}) {
            lengths.push_back(border + near);
            if (border >= near) lengths.push_back(border - near);
        }
    }
    for (const std::size_t length : lengths) {
        const aead_case c = sealed_case<short_nonce>(length, length % 20);
        const buffer stream = joined(c.ciphertext, c.tag);
        for (const aead_kernel& kernel : aead_kernel_sets()) {
            for (std::size_t piece = 1; piece <= 161; piece += stride(23)) {
                auto encryptor = make_encryptor<short_nonce>(c, kernel);
                auto opener = make_opener<short_nonce>(c, kernel);
                REQUIRE(encryptor.add_ad(c.ad) == status::ok);
                REQUIRE(opener.add_ad(c.ad) == status::ok);
                buffer made(length), text(length);
                for (std::size_t at = 0; at < length; at += piece) {
                    const std::size_t size = std::min(piece, length - at);
                    REQUIRE(encryptor.update(bytes_view(c.plaintext).subspan(at, size),
                                             crypto::bytes(made).subspan(at)) == status::ok);
                }
                std::size_t written = 0;
                for (std::size_t at = 0; at < stream.size(); at += piece) {
                    const std::size_t size = std::min(piece, stream.size() - at);
                    written += opener
                                   .update(bytes_view(stream).subspan(at, size),
                                           crypto::bytes(text).subspan(written))
                                   .written;
                }
                const bool right = made == c.ciphertext && tag_of(std::move(encryptor)) == c.tag &&
                                   std::move(opener).finish() && text == c.plaintext;
                if (!right) {
                    FAIL(kernel.name << " wrong at " << length << " bytes by " << piece);
                }
            }
        }
    }
}

TEST_CASE("the last blocks before the data limit are used and nothing behind them") {
    const aead_case c = counting_case(12, 5000, 0);
    for (const std::size_t left : sizes{64, 128, 960, 1024, 2048, 4096, 4992}) {
        buffer right;
        for (const aead_kernel& kernel : aead_kernel_sets()) {
            CAPTURE(std::string(kernel.name));
            auto encryptor = make_encryptor<short_nonce>(c, kernel);
            message_access::skip(encryptor, max_message - left);
            CHECK(encryptor.remaining() == left);
            buffer out(5000, 0xaa);
            const bytes_view text = c.plaintext;
            CHECK(encryptor.update(text.first(left + 1), out) == status::data_limit);
            CHECK(out == buffer(5000, 0xaa));
            REQUIRE(encryptor.update(text.first(left / 2), out) == status::ok);
            REQUIRE(encryptor.update(text.first(left / 2 + 1), out) == status::data_limit);
            REQUIRE(encryptor.update(text.first(left / 2), crypto::bytes(out).subspan(left / 2)) ==
                    status::ok);
            CHECK(encryptor.remaining() == 0);
            CHECK(encryptor.update(text.first(1), out) == status::data_limit);
            const buffer all = joined(out, tag_of(std::move(encryptor)));
            if (right.empty()) right = all;
            CHECK(all == right);
        }
    }
}

}  // namespace culvert::tests
