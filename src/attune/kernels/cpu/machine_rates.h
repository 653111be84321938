#pragma once

#include <cstdint>

/// What this machine can do at most, measured with plain loops on num_threads() threads at once: benchmarks print their
/// figures beside.
namespace attune::kernels {

/// Operations a second (two for each) of fused multiply-adds that wait for nothing: the best of several short runs.
double multiply_add_rate();

/// The same of products of bytes that are added up in 32 bits, by the instructions that the integer kernels use.
double byte_multiply_add_rate();

/// Bytes a second of reading `floats` values over and over, which come from the cache that they fit into or from
/// memory.
double read_rate(std::int64_t floats);

}  // namespace attune::kernels
