#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "attune/kernels/attention.h"

/// What both directions of the reference attention are made of.
namespace attune::kernels::reference {

struct AttentionRow {
  std::int64_t s, i, h, kv, token;  // sequence, query in it, query head, key head, row of q and y

  ScorePlace place(const AttentionProblem<double>& p, std::int64_t j) const {
    return {h, token, p.position(s, i), p.key_row(s, j), j};
  }
};

template <class Work>
void for_each_row(const AttentionProblem<double>& p, Work&& work) {
  for (std::int64_t s = 0; s < p.sequences(); ++s)
    for (std::int64_t h = 0; h < p.q.heads; ++h)
      for (std::int64_t i = 0; i < p.queries(s); ++i) work(AttentionRow{s, i, h, h / p.group(), p.query_row(s, i)});
}

/// cap(scale q k) + terms of key j; `slope` is its derivative by the product q k.
double score(const AttentionProblem<double>& p, const AttentionRow& r, std::int64_t j, double& slope);
/// The softmax of the row's scores, 0 for hidden keys; `largest` and `sum` are its two normalisers.
std::vector<double> weights(const AttentionProblem<double>& p, const AttentionRow& r, double& largest, double& sum);

/// What dropout multiplies the weight of key j by.
inline double kept(const AttentionProblem<double>& p, const AttentionRow& r, std::int64_t j) {
  if (p.dropout.rate == 0) return 1;
  const auto example = static_cast<std::uint64_t>(p.examples[static_cast<std::size_t>(r.s)]);
  const auto position = static_cast<std::uint32_t>(p.position(r.s, r.i));
  const auto numbers = philox(p.dropout_key_of(r.h), example, position, static_cast<std::uint32_t>(j / 4));
  const double rate = p.dropout.rate;
  return numbers[static_cast<std::size_t>(j % 4)] < static_cast<std::uint32_t>(rate * 0x1p32) ? 0 : 1 / (1 - rate);
}

}  // namespace attune::kernels::reference
