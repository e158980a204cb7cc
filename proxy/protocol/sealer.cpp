#include "proxy/protocol/sealer.hpp"

#include <algorithm>
#include <cassert>

namespace culvert::protocol {

sealer::sealer(epoch_keys keys, role sender, steady_time now, epoch_limits limits)
    : cipher_(std::move(keys)),
      limits_(limits),
      epoch_began_(now),
      opened_(sender == role::server) {}

void sealer::seal(record_type type, bytes slot, steady_time now) {
    assert(slot.size() >= record_overhead);
    const std::size_t length = slot.size() - record_overhead;
    check_order(type, length);

    record_header header;
    header.type = static_cast<std::uint8_t>(type);
    header.rekey = rekey_due(type, length, now);
    header.length = static_cast<std::uint32_t>(length);

    const auto head = slot.first<header_size>();
    header.write(head);
    const bytes payload = slot.subspan(header_size, length);
    cipher_.seal(head, payload, slot.last<tag_size>());
    cipher_.mask(head);

    epoch_bytes_ += length;
    cipher_.next_record();
    if (header.rekey) {
        cipher_.next_epoch();
        ++epoch_;
        epoch_bytes_ = 0;
        epoch_began_ = now;
        rekey_wanted_ = false;
    }
}

void sealer::seal_data(bytes run, std::size_t payload, steady_time now) {
    while (!run.empty()) {
        const bytes slot = run.first(std::min(payload + record_overhead, run.size()));
        seal(record_type::data, slot, now);
        run = run.subspan(slot.size());
    }
}

// An ALERT is the last record of its sender: no epoch follows it.
bool sealer::rekey_due(record_type type, std::size_t length, steady_time now) const {
    if (type == record_type::alert) return false;
    return rekey_wanted_ || epoch_bytes_ + length >= limits_.bytes ||
           now - epoch_began_ >= limits_.time || cipher_.index() + 1 == epoch_cipher::max_records;
}

void sealer::check_order([[maybe_unused]] record_type type, [[maybe_unused]] std::size_t length) {
    assert(!alerted_ && "nothing follows an ALERT");
    switch (type) {
        case record_type::data:
            assert(opened_ && !ended_ && length >= 1 && length <= max_payload);
            break;
        case record_type::end:
            assert(opened_ && !ended_ && length == 0);
            ended_ = true;
            break;
        case record_type::pad:
            assert(length <= (opened_ ? max_payload : max_service_name));
            break;
        case record_type::alert:
            assert(length == 1);
            alerted_ = true;
            break;
        case record_type::open:
            assert(!opened_ && length <= max_service_name);
            opened_ = true;
            break;
    }
}

std::size_t record_ramp::size(steady_time now) noexcept {
    if (now - last_sent_ >= std::chrono::seconds{1}) bytes_ = 0;
    if (bytes_ < 128 * 1024) return first;
    if (bytes_ < 1024 * 1024) return middle;
    return last;
}

void record_ramp::sent(std::size_t payload, steady_time now) noexcept {
    bytes_ += payload;
    last_sent_ = now;
}

}  // namespace culvert::protocol
