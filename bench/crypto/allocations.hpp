// How often this process has asked for memory, by new or malloc, whoever asked.
#pragma once

#include <cstdint>

namespace culvert::bench {

std::uint64_t allocations() noexcept;

}  // namespace culvert::bench
