#include "bench/wire.hpp"

#include <doctest/doctest.h>

using namespace culvert::load;

namespace {

// Every bit of the message matters.
template <class Message, class Decode>
void check_each_bit(const Message& message, Decode decode) {
    for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
        auto changed = message;
        changed[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
        CAPTURE(bit);
        CHECK(!decode(changed));
    }
}

}  // namespace

TEST_SUITE("bench.wire") {
    TEST_CASE("a request arrives as it was, or not at all") {
        const request sent{kind::reply, 0x0123456789abcdef, 2, 3, unbounded};
        const auto message = encode(sent);
        CHECK(decode_request(message) == sent);
        check_each_bit(message, [](const auto& changed) { return decode_request(changed); });
    }

    TEST_CASE("a verdict arrives as it was, or not at all") {
        const verdict sent{1'000'000'000'000, 7, 12};
        const auto message = encode(sent);
        CHECK(decode_verdict(message) == sent);
        check_each_bit(message, [](const auto& changed) { return decode_verdict(changed); });
    }
}
