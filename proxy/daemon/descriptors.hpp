// How many files this process may have open, and what that means for sessions.
#pragma once

#include <cstddef>

namespace culvert::daemon {

// Raises the soft limit of open files to the hard one.
void raise_descriptor_limit() noexcept;

// How many are free now, but for a few that are kept for name lookups and the like.
[[nodiscard]] std::size_t descriptors_left();

// For how many sessions, of two sockets each, so many descriptors suffice beside one for each of
// the pooled sessions. Connections beyond that are better left in the kernel's queue than accepted
// and reset.
[[nodiscard]] std::size_t sessions_that_fit(std::size_t descriptors, std::size_t pooled) noexcept;

}  // namespace culvert::daemon
