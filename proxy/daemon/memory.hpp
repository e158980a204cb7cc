// What may become of this process's memory: dumps, debuggers, swap.
#pragma once

namespace culvert::daemon {

// No core dumps, and no reading by other processes of the same user: before the first key is read.
void forbid_dumps() noexcept;

// Takes that back, for debuggers; the limit of core dumps stays as low as it was made.
void allow_dumps() noexcept;

// Raises how much memory may be locked, so that the keys of every session may be: for root to what
// a daemon with very many of them needs, for others as far as they may.
void raise_locked_memory_limit() noexcept;

}  // namespace culvert::daemon
