// Code for one kind of CPU, function by function: whole files never get -m flags, so that no inline
// function of theirs can be the copy that the linker keeps for everyone.
#pragma once

#if defined(__x86_64__)
#define CULVERT_X86 1
#else
#define CULVERT_X86 0
#endif

#define CULVERT_TARGET_AVX2 [[gnu::target("avx2,bmi,bmi2")]]
#define CULVERT_TARGET_AVX512 \
    [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx512ifma,avx512vbmi2,avx2,bmi,bmi2")]]

// For the parts of a kernel: they must become part of a function with the same target.
#define CULVERT_PART [[gnu::always_inline]] inline
