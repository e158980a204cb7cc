#include "tests/protocol/wire.hpp"

namespace culvert::tests {

using namespace protocol;

namespace {

// A payload with room for header and tag around it.
octets slot_for(crypto::bytes_view payload) {
    octets slot(record_overhead);
    slot.insert(slot.begin() + header_size, payload.begin(), payload.end());
    return slot;
}

}  // namespace

octets sealed(sealer& by, record_type type, crypto::bytes_view payload, steady_time now) {
    octets slot = slot_for(payload);
    by.seal(type, slot, now);
    return slot;
}

octets forger::record(std::uint8_t first_byte, crypto::bytes_view payload) {
    octets out = slot_for(payload);
    const crypto::bytes all = out;
    const auto head = all.first<header_size>();
    crypto::store32_le(head.data(), static_cast<std::uint32_t>(payload.size() << 8) | first_byte);
    cipher_.seal(head, all.subspan(header_size, payload.size()), all.last<tag_size>());
    cipher_.mask(head);
    cipher_.next_record();
    if ((first_byte & 0x80) != 0) cipher_.next_epoch();
    return out;
}

octets forger::header(record_type type, std::uint32_t length) {
    octets out(header_size);
    crypto::store32_le(out.data(), (length << 8) | static_cast<std::uint32_t>(type));
    cipher_.mask(crypto::bytes(out).first<header_size>());
    return out;
}

error receiver::feed(crypto::bytes_view piece) {
    octets next(buffer.end() - static_cast<std::ptrdiff_t>(in.held()), buffer.end());
    std::size_t at = next.size();
    append(next, piece);
    buffer = std::move(next);
    error fault = error::none;
    while (at < buffer.size() && fault == error::none) {
        const auto done = in.feed(crypto::bytes(buffer).subspan(at), records_);
        at += done.consumed;
        fault = done.fault;
        for (std::size_t i = 0; i < done.records; ++i)
            arrived.push_back({records_[i].type, copy_of(records_[i].payload)});
    }
    return fault;
}

error receiver::feed_by_byte(crypto::bytes_view stream) {
    for (std::size_t i = 0; i < stream.size(); ++i)
        if (const error fault = feed(stream.subspan(i, 1)); fault != error::none) return fault;
    return error::none;
}

void append(octets& to, crypto::bytes_view what) {
    to.insert(to.end(), what.begin(), what.end());
}

octets counting(std::size_t size) {
    octets out(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(i % 251);
    return out;
}

}  // namespace culvert::tests
