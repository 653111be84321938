#pragma once

// Accumulators stay in registers only where the loops over them are unrolled whole.
#if defined(__clang__)
#define ATTUNE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ATTUNE_UNROLL _Pragma("GCC unroll 16")
#endif
