#include "attune/kernels/reference/attention.h"

#include <cmath>

#include "attune/kernels/reference/attention_row.h"

namespace attune::kernels {

namespace reference {

double score(const AttentionProblem<double>& p, const AttentionRow& r, std::int64_t j, double& slope) {
  const double* q = p.query(r.s, r.i, r.h);
  const double* k = p.key(r.s, j, r.kv);
  double x = p.scale * std::inner_product(q, q + p.q.width, k, 0.0);
  slope = p.scale;  // of the score by the product q k
  if (p.cap != 0) {
    const double t = std::tanh(x / p.cap);
    x = p.cap * t, slope *= 1 - t * t;
  }
  for (const ScoreTerm<double>& term : p.terms) x += term.values[term.index(r.place(p, j))];
  return x;
}

std::vector<double> weights(const AttentionProblem<double>& p, const AttentionRow& r, double& largest, double& sum) {
  std::vector<double> w(static_cast<std::size_t>(p.keys(r.s)), -HUGE_VAL);  // hidden keys: exp(-infinity) = 0
  double slope;
  largest = p.sinks ? p.sinks[r.h] : -HUGE_VAL;
  for (std::int64_t j = 0; j < p.keys(r.s); ++j)
    if (p.mask.sees(r.s, p.position(r.s, r.i), j, p.keys(r.s)))
      largest = std::max(largest, w[static_cast<std::size_t>(j)] = score(p, r, j, slope));
  if (largest == -HUGE_VAL) largest = 0;  // a row that sees nothing
  sum = p.sinks ? std::exp(p.sinks[r.h] - largest) : 0;
  for (double& x : w) sum += x = std::exp(x - largest);
  for (double& x : w) x = sum == 0 ? 0 : x / sum;
  return w;
}

}  // namespace reference

void attention(const AttentionProblem<double>& p, const HeadRows<double>& y, double* sums) {
  reference::for_each_row(p, [&](const reference::AttentionRow& r) {
    double* largest_and_sum = sums + p.sums_of(r.h, r.token);
    const std::vector<double> w = reference::weights(p, r, largest_and_sum[0], largest_and_sum[1]);
    double* out = y.at(r.token, r.h);
    std::fill_n(out, y.width, 0.0);
    for (std::int64_t j = 0; j < p.keys(r.s); ++j)
      if (const double weight = w[static_cast<std::size_t>(j)] * reference::kept(p, r, j); weight != 0)
        for (std::int64_t c = 0; c < y.width; ++c) out[c] += weight * p.value(r.s, j, r.kv)[c];
  });
}

}  // namespace attune::kernels
