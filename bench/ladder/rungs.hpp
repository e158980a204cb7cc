// The ladder: what each layer adds to the cost of a relayed byte. Each rung moves plaintext for a
// while and says what that took of the processor, for both ends together.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace culvert::ladder {

struct cost {
    double cpu_seconds = 0;
    std::uint64_t bytes = 0;  // of plaintext
};

using rung_function = cost (*)(std::chrono::milliseconds time);

// In memory, on the calling thread.
cost cipher(std::chrono::milliseconds time);   // 64 KiB sealed and opened in place
cost record(std::chrono::milliseconds time);   // through a sealer and an opener
cost session(std::chrono::milliseconds time);  // copied into slots and out of them too

// Over the loopback: an application, two ends on a thread each, a service. Only the two ends count.
cost tunnel(std::chrono::milliseconds time);  // relay::tunnel, over TCP
cost relay(std::chrono::milliseconds time);   // the same reads and writes, no records between

// Over the loopback, from the application to the service directly: both count.
cost loopback(std::chrono::milliseconds time);

struct rung {
    const char* name;
    rung_function run;
};

inline constexpr std::array rungs{rung{"cipher", cipher},   rung{"record", record},
                                  rung{"session", session}, rung{"tunnel", tunnel},
                                  rung{"relay", relay},     rung{"loopback", loopback}};

}  // namespace culvert::ladder
