// Records: nothing that sealing and opening does depends on a key or on what is carried. Public are
// the headers, which the receiver has to act on, and the verdict on each tag. The name in an OPEN
// is looked at byte by byte once it has verified: it says where to connect, and is none of the
// secrets.
#include <doctest/doctest.h>

#include "proxy/protocol/opener.hpp"
#include "proxy/protocol/sealer.hpp"
#include "tests/constant_time/secrets.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

traffic_secret traffic() {
    const buffer bytes = concealed(counting(32));
    return traffic_secret(exactly<32>(bytes));
}

buffer sealed(sealer& by, record_type type, const buffer& payload) {
    buffer slot(header_size);
    slot.insert(slot.end(), payload.begin(), payload.end());
    slot.resize(slot.size() + tag_size);
    by.seal(type, slot, {});
    return slot;
}

buffer secret_text(std::size_t size) {
    return concealed(pattern_251(size));
}

// Every type, several sizes, several epochs.
buffer some_stream() {
    sealer by(traffic(), role::client, {}, {.bytes = 3'000, .time = std::chrono::seconds(120)});
    buffer out;
    const auto put = [&](record_type type, const buffer& payload) {
        const buffer record = sealed(by, type, payload);
        CHECK(is_secret(record));
        out.insert(out.end(), record.begin(), record.end());
    };
    put(record_type::pad, secret_text(0));
    put(record_type::open, {});
    for (const std::size_t size : sizes{1, 15, 16, 17, 64, 1'350, 2'500})
        put(record_type::data, secret_text(size));
    by.rekey_with_next();
    put(record_type::pad, secret_text(300));
    for (int i = 0; i < 20; ++i) put(record_type::data, secret_text(9));
    put(record_type::end, {});
    put(record_type::alert, secret_text(1));
    CHECK(by.epoch() >= 2);
    return revealed(out);  // on the wire
}

struct taken_in {
    std::size_t data = 0, others = 0;
    error fault = error::none;
};

taken_in take_in(buffer stream, std::size_t piece) {
    opener in(traffic(), role::server);
    std::array<opened_record, 7> records;
    taken_in got;
    for (std::size_t at = 0; at < stream.size() && got.fault == error::none;) {
        const std::size_t size = std::min(piece, stream.size() - at);
        const auto done = in.feed(crypto::bytes(stream).subspan(at, size), records);
        at += done.consumed;
        got.fault = done.fault;
        for (const auto& r : std::span(records).first(done.records)) {
            CHECK(is_secret(r.payload));
            got.data += r.type == record_type::data ? r.payload.size() : 0;
            got.others += r.type != record_type::data ? 1 : 0;
        }
    }
    return got;
}

}  // namespace

TEST_SUITE_BEGIN("constant_time.records");

TEST_CASE("sealing and opening, whole and in pieces") {
    const buffer stream = some_stream();
    for (const std::size_t piece : sizes{1, 3, 100, 1'400, stream.size()}) {
        const taken_in got = take_in(stream, piece);
        CHECK(got.fault == error::none);
        CHECK(got.data == 1 + 15 + 16 + 17 + 64 + 1'350 + 2'500 + 20 * 9);
        CHECK(got.others == 5);
    }
}

TEST_CASE("a damaged record") {
    const buffer stream = some_stream();
    for (const std::size_t at : sizes{5, 24, 100, 200, 2'000}) {
        buffer damaged = stream;
        damaged.at(at) ^= 4;
        for (const std::size_t piece : {std::size_t{1}, damaged.size()})
            CHECK(take_in(damaged, piece).fault != error::none);
    }
}

TEST_SUITE_END();

}  // namespace culvert::tests
