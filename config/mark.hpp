// Telling whether keys have changed, long after they were wiped.
#pragma once

#include "config/settings.hpp"

namespace culvert::config {

// KMAC256 of the secret keys that are there, under a key that only this process has and that is
// drawn at the first call: equal keys have equal marks, and a mark says nothing about its keys.
[[nodiscard]] key_mark mark_of(const credentials& keys);
[[nodiscard]] key_mark mark_of(const key& one);

}  // namespace culvert::config
