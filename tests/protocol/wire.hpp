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
octets sealed(protocol::sealer& by, record_type type, crypto::bytes_view payload,
              protocol::steady_time now = {});

// Any header over any payload, correctly sealed: what only a broken or evil peer sends.
class forger {
  public:
    explicit forger(const protocol::traffic_secret& secret) : cipher_(secret) {}

    octets record(std::uint8_t first_byte, crypto::bytes_view payload);
    octets record(record_type type, crypto::bytes_view payload) {
        return record(static_cast<std::uint8_t>(type), payload);
    }
    // The masked header alone, announcing `length` bytes.
    octets header(record_type type, std::uint32_t length);
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

    protocol::error feed(crypto::bytes_view piece);
    protocol::error feed_by_byte(crypto::bytes_view stream);

    protocol::opener in;
    octets buffer;
    std::vector<arrival> arrived;

  private:
    std::vector<protocol::opened_record> records_;
};

void append(octets& to, crypto::bytes_view what);

// 0, 1, … 250, 0, 1, …
octets counting(std::size_t size);

}  // namespace culvert::tests
