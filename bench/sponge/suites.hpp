// The groups of measurements; each function registers its own with Google Benchmark. A name is
// group/what/who, with the size in bytes or the number of states among them.
#pragma once

namespace culvert::bench {

void register_permutations();
void register_hashes();
void register_key_derivation();

}  // namespace culvert::bench
