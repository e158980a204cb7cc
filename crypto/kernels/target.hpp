// Code for one instruction set inside a build for any CPU: the attribute stands on each function,
// never on a file, so that no inline function of a header is compiled for the wrong CPU.
//
// A small function that a kernel is written in must be inlined into it: called by itself it would
// pass its vectors through memory, and compilers refuse to inline across different targets.
#pragma once

#define CULVERT_TARGET(features) [[gnu::target(features)]]
#define CULVERT_TARGET_INLINE(features) [[gnu::target(features), gnu::always_inline]] inline
