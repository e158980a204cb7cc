// Memory that is kept back for when there is no more.
#pragma once

namespace culvert::daemon {

// Sets 2 MiB aside; nothing is written there. From now on an allocation by `operator new` that
// would fail gets a part of it, as long as there is one: so the small things succeed that a running
// session needs to go on, or to end in good order. Large ones, such as buffers, don't draw on it,
// and fail. Once a process.
void keep_memory_reserve();

// Whether most of it is gone and can't be had back now: no time to begin anything new.
[[nodiscard]] bool memory_is_short() noexcept;

}  // namespace culvert::daemon
