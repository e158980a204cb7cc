// How many files this process may have open, and what that means for sessions.
#pragma once

#include <cstddef>

namespace culvert::daemon {

// Raises the soft limit of open files to the hard one.
void raise_descriptor_limit() noexcept;

// For how many sessions, of two sockets each, the descriptors suffice that are free now; a few are
// kept for name lookups and the like, and one for each of the pooled sessions. Connections beyond
// that are better left in the kernel's queue than accepted and reset.
[[nodiscard]] std::size_t sessions_that_fit(std::size_t pooled);

}  // namespace culvert::daemon
