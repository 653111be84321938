#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attune/base/threads.h"
#include "attune/kernels/attention.h"

namespace attune::kernels {

/// A piece of work for one thread: queries [first, first + queries) of a sequence, for one key head or some and the
/// query heads that share them. How the work is cut changes no bit of any result.
struct AttentionWork {
  std::int64_t sequence, kv_head, first, queries;
  std::int64_t kv_heads = 1;
};

/// Of so few rows of queries (times query heads of a key head) that reading a cache is most of the work.
constexpr std::int64_t streamed_rows = 6;

/// Key heads of one piece of work. Where a cache is read once they go through it side by side, as its pages hold them.
inline std::int64_t kv_heads_at_once(const AttentionProblem<float>& problem, std::int64_t s) {
  const std::int64_t tokens = problem.pages.layout.tokens;
  if (tokens == 0 || tokens % 64 != 0 || problem.queries(s) * problem.group() > streamed_rows) return 1;
  const std::int64_t pieces = num_threads() == 1 ? 1 : 2 * num_threads();
  return std::clamp<std::int64_t>(problem.k.heads * problem.sequences() / pieces, 1, problem.k.heads);
}

/// The sequences, those with the most to do first, so that threads end together.
inline std::vector<std::int64_t> longest_first(const AttentionProblem<float>& problem) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(problem.sequences()));
  for (std::size_t s = 0; s < order.size(); ++s) order[s] = static_cast<std::int64_t>(s);
  auto cost = [&](std::int64_t s) { return problem.queries(s) * problem.keys(s); };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return cost(a) > cost(b); });
  return order;
}

/// How many pieces of work to take at once: enough multiply-adds to be worth a thread's attention.
inline std::int64_t attention_grain(const AttentionProblem<float>& problem, std::size_t pieces) {
  double total = 0;
  for (std::int64_t s = 0; s < problem.sequences(); ++s)
    total += static_cast<double>(problem.queries(s)) * static_cast<double>(problem.keys(s));
  total *= static_cast<double>(problem.q.heads) * static_cast<double>(problem.q.width + problem.v.width);
  constexpr double worth_a_thread = 1 << 20;  // about 20 microseconds
  const double each = total / static_cast<double>(std::max<std::size_t>(pieces, 1));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(worth_a_thread / std::max(each, 1.0)), 1,
                                  std::max<std::int64_t>(static_cast<std::int64_t>(pieces), 1));
}

}  // namespace attune::kernels
