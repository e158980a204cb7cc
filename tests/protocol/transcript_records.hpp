// The records of a transcript: epoch by epoch and record by record.
#pragma once

#include "tests/protocol/transcript.hpp"

namespace culvert::tests {

// Keys of every epoch, then header, nonce, tag and wire bytes of every record, of direction "c2s"
// or "s2c".
void compare_records(transcript& recorded, const std::string& direction);

// The sealer sends the recorded wire bytes, and the opener takes them.
void compare_stream(transcript& recorded, const std::string& direction);

}  // namespace culvert::tests
