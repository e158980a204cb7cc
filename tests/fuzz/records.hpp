// What the targets of the record layer share: a stream taken in by different cuts.
#pragma once

#include "tests/fuzz/input.hpp"
#include "tests/protocol/wire.hpp"

namespace culvert::fuzz {

using protocol::error;
using protocol::record_type;
using protocol::role;
using tests::arrival;

struct taken_in {
    std::vector<arrival> records;
    error fault = error::none;
    bool operator==(const taken_in&) const = default;
};

// Takes `stream` in pieces. Once there is a fault, nothing that follows may come out.
template <class Receiver>
taken_in take_in(input& in, Receiver& receiver, bytes_view stream) {
    taken_in got;
    in.in_pieces(stream, [&](const buffer& piece) {
        if (piece.empty()) return;  // says nothing, not even that the stream is dead
        const std::size_t before = receiver.arrived.size();
        const error fault = receiver.feed(piece);
        if (got.fault != error::none) {
            require(fault == got.fault && receiver.arrived.size() == before);
        }
        got.fault = fault;
    });
    got.records = receiver.arrived;
    return got;
}

inline bool is_prefix(const std::vector<arrival>& of, const std::vector<arrival>& all) {
    return of.size() <= all.size() && std::equal(of.begin(), of.end(), all.begin());
}

}  // namespace culvert::fuzz
