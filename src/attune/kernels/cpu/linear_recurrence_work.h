#pragma once

#include <algorithm>
#include <cstdint>

#include "attune/base/threads.h"
#include "attune/kernels/linear_recurrence.h"

/// Between linear_recurrence.cpp and linear_recurrence_backward.cpp. Nobody else includes this.
namespace attune::kernels {

// Tokens of a chunk. More means wider products and fewer passes over the state, and more work within the chunk. Of 32,
// 48 and 64 the first was the fastest or within 3 % of it, for heads of 64 and 128, 512 and 4096 tokens.
inline constexpr std::int64_t recurrence_chunk = 32;
// Chunks from one state that is kept for the backward pass to the next.
inline constexpr std::int64_t chunks_of_segment = 8;

inline std::int64_t chunks_of(std::int64_t length) { return (length + recurrence_chunk - 1) / recurrence_chunk; }
/// The first segment begins with zeros, which need not be kept.
inline std::int64_t kept_of(std::int64_t length) {
  return std::max<std::int64_t>(0, (chunks_of(length) - 1) / chunks_of_segment);
}

/// Where a sequence's states stand among the kept ones: [kept states, kv_heads, width, columns].
inline std::int64_t kept_before(const LinearRecurrence<float>& p, std::int64_t sequence) {
  std::int64_t before = 0;
  for (std::int64_t s = 0; s < sequence; ++s) before += kept_of(p.length(s));
  return before;
}

/// Calls work(sequence, key head) for all in parallel.
template <class Work>
void for_each_sequence_and_head(const LinearRecurrence<float>& p, const Work& work) {
  const double tokens = static_cast<double>(p.starts.back()), pieces = static_cast<double>(p.sequences() * p.k.heads);
  if (tokens == 0) return;
  const double each = tokens * static_cast<double>(p.q.heads * 2 * p.state_size()) / pieces;
  constexpr double worth_a_thread = 1 << 20;
  const auto grain = std::max<std::int64_t>(1, static_cast<std::int64_t>(worth_a_thread / std::max(each, 1.0)));
  parallel(p.sequences() * p.k.heads, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) work(i / p.k.heads, i % p.k.heads);
  });
}

}  // namespace attune::kernels
