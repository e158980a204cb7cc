// Records on their way: sealed, forged, and taken in as the relay takes them in.
#pragma once

#include <vector>

#include "proxy/protocol/opener.hpp"
#include "proxy/protocol/sealer.hpp"
#include "tests/protocol/parties.hpp"

namespace culvert::tests {

using protocol::record_type;
using protocol::role;

inline protocol::traffic_secret traffic() {
    return secret_of(0x40);
}

// A record of this payload, made by the sealer.
inline octets sealed(protocol::sealer& by, record_type type, crypto::bytes_view payload,
                     protocol::steady_time now = {}) {
    octets slot(payload.size() + protocol::record_overhead);
    std::copy(payload.begin(), payload.end(), slot.begin() + protocol::header_size);
    by.seal(type, slot, now);
    return slot;
}

// Any header over any payload, correctly sealed: what only a broken or evil peer sends.
class forger {
  public:
    explicit forger(const protocol::traffic_secret& secret) : cipher_(secret) {}

    octets record(std::uint8_t first_byte, crypto::bytes_view payload) {
        octets out(payload.size() + protocol::record_overhead);
        const crypto::bytes all = out;
        const auto head = all.first<protocol::header_size>();
        crypto::store32_le(head.data(),
                           static_cast<std::uint32_t>(payload.size() << 8) | first_byte);
        std::copy(payload.begin(), payload.end(), out.begin() + protocol::header_size);
        cipher_.seal(head, all.subspan(protocol::header_size, payload.size()),
                     all.last<protocol::tag_size>());
        cipher_.mask(head);
        cipher_.next_record();
        if ((first_byte & 0x80) != 0) cipher_.next_epoch();
        return out;
    }
    octets record(record_type type, crypto::bytes_view payload) {
        return record(static_cast<std::uint8_t>(type), payload);
    }
    // The masked header alone, announcing `length` bytes.
    octets header(record_type type, std::uint32_t length) {
        octets out(protocol::header_size);
        crypto::store32_le(out.data(), (length << 8) | static_cast<std::uint32_t>(type));
        cipher_.mask(crypto::bytes(out).first<protocol::header_size>());
        return out;
    }
    void skip_to(std::uint64_t index) { cipher_.skip_to(index); }

  private:
    protocol::epoch_cipher cipher_;
};

struct arrival {
    record_type type;
    octets payload;
    friend bool operator==(const arrival&, const arrival&) = default;
};

// An opener with a buffer of its own. Every call sees another buffer, to which the unfinished
// record has been moved.
class receiver {
  public:
    receiver(const protocol::traffic_secret& secret, role receives, std::size_t batch = 4)
        : in(secret, receives), records_(batch) {}

    protocol::error feed(crypto::bytes_view piece) {
        octets next(buffer.end() - static_cast<std::ptrdiff_t>(in.held()), buffer.end());
        std::size_t at = next.size();
        next.insert(next.end(), piece.begin(), piece.end());
        buffer = std::move(next);
        protocol::error fault = protocol::error::none;
        while (at < buffer.size() && fault == protocol::error::none) {
            const auto done = in.feed(crypto::bytes(buffer).subspan(at), records_);
            at += done.consumed;
            fault = done.fault;
            for (std::size_t i = 0; i < done.records; ++i)
                arrived.push_back({records_[i].type, copy_of(records_[i].payload)});
        }
        return fault;
    }
    protocol::error feed_by_byte(crypto::bytes_view stream) {
        for (std::size_t i = 0; i < stream.size(); ++i)
            if (const auto fault = feed(stream.subspan(i, 1)); fault != protocol::error::none)
                return fault;
        return protocol::error::none;
    }
    [[nodiscard]] octets data() const {
        octets out;
        for (const auto& record : arrived)
            if (record.type == record_type::data)
                out.insert(out.end(), record.payload.begin(), record.payload.end());
        return out;
    }

    protocol::opener in;
    octets buffer;
    std::vector<arrival> arrived;

  private:
    std::vector<protocol::opened_record> records_;
};

inline void append(octets& to, const octets& what) {
    to.insert(to.end(), what.begin(), what.end());
}

inline octets counting(std::size_t size) {
    octets out(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(i % 251);
    return out;
}

}  // namespace culvert::tests
