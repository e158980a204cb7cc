// The handshake of a transcript: driven through both machines, and step by step.
#pragma once

#include "tests/protocol/transcript.hpp"

namespace culvert::tests {

// Both machines, fed with the recorded random bytes, send the recorded messages.
void compare_messages(transcript& recorded);

// h, ck, keys and boxes after every operation of PROTOCOL.md section 3.
void compare_steps(transcript& recorded);

}  // namespace culvert::tests
