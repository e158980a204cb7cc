// The rungs without a system call.
#include <time.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "bench/ladder/keys.hpp"
#include "bench/ladder/rungs.hpp"
#include "crypto/chacha20poly1305.hpp"

namespace culvert::ladder {
namespace {

using crypto::bytes;
using protocol::header_size;
using protocol::max_payload;
using protocol::record_overhead;

constexpr std::size_t slot_size = max_payload + record_overhead;
constexpr std::size_t slots = 4;  // as many as the relay's buffer has

double thread_cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Repeats `round`, which moves so many bytes.
template <class Round>
cost repeat(std::chrono::milliseconds time, std::uint64_t bytes_a_round, Round round) {
    const auto end = std::chrono::steady_clock::now() + time;
    cost out;
    const double before = thread_cpu_seconds();
    while (std::chrono::steady_clock::now() < end) {
        round();
        out.bytes += bytes_a_round;
    }
    out.cpu_seconds = thread_cpu_seconds() - before;
    return out;
}

void seal_slots(protocol::sealer& sealer, bytes run) {
    const auto now = std::chrono::steady_clock::now();
    for (std::size_t at = 0; at < run.size(); at += slot_size)
        sealer.seal(protocol::record_type::data, run.subspan(at, slot_size), now);
}

std::span<protocol::opened_record> open_run(protocol::opener& opener, bytes run,
                                            std::span<protocol::opened_record> records) {
    const auto done = opener.feed(run, records);
    if (done.fault != protocol::error::none || done.records != slots)
        throw std::runtime_error("a record did not open");
    return records.first(done.records);
}

}  // namespace

cost cipher(std::chrono::milliseconds time) {
    namespace aead = crypto::chacha20poly1305;
    std::vector<std::uint8_t> text(max_payload);
    const auto key = secret_of(1);
    std::array<std::uint8_t, aead::nonce_size> nonce{};
    std::array<std::uint8_t, aead::tag_size> tag{};
    return repeat(time, text.size(), [&] {
        ++nonce[0];  // the same nonce again and again would do no harm here
        if (!aead::seal(key.view(), nonce, {}, text, text, tag) ||
            !aead::open(key.view(), nonce, {}, text, tag, text))
            throw std::runtime_error("a text did not open");
    });
}

cost record(std::chrono::milliseconds time) {
    opened_session ends;
    std::vector<std::uint8_t> run(slots * slot_size);
    std::array<protocol::opened_record, slots> records;
    return repeat(time, slots * max_payload, [&] {
        seal_slots(ends.client.sealer, run);
        open_run(ends.server.opener, run, records);
    });
}

cost session(std::chrono::milliseconds time) {
    opened_session ends;
    std::vector<std::uint8_t> application(slots * max_payload);
    std::vector<std::uint8_t> service(slots * max_payload);
    std::vector<std::uint8_t> run(slots * slot_size);
    std::array<protocol::opened_record, slots> records;
    return repeat(time, slots * max_payload, [&] {
        for (std::size_t i = 0; i < slots; ++i)
            std::memcpy(&run[i * slot_size + header_size], &application[i * max_payload],
                        max_payload);
        seal_slots(ends.client.sealer, run);
        std::size_t at = 0;
        for (const auto& one : open_run(ends.server.opener, run, records)) {
            std::memcpy(&service[at], one.payload.data(), one.payload.size());
            at += one.payload.size();
        }
    });
}

}  // namespace culvert::ladder
