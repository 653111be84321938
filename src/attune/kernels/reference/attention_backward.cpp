#include <cmath>

#include "attune/kernels/reference/attention.h"
#include "attune/kernels/reference/attention_row.h"

namespace attune::kernels {

namespace {

void clear(const HeadRows<double>& rows, std::int64_t tokens) {
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t h = 0; h < rows.heads; ++h) std::fill_n(rows.at(t, h), rows.width, 0.0);
}

}  // namespace

void attention_backward(const AttentionProblem<double>& p, const AttentionForward<double>& f,
                        const AttentionGradients<double>& g) {
  clear(g.dq, p.query_starts.back()), clear(g.dk, p.key_starts.back()), clear(g.dv, p.key_starts.back());
  reference::for_each_row(p, [&](const reference::AttentionRow& r) {
    double largest, sum, slope;
    const std::vector<double> w = reference::weights(p, r, largest, sum);
    const double* dy = f.dy.at(r.token, r.h);
    // Sum over keys of dL/dw w, with dL/dw_j = dy v_j: the softmax's share of every score.
    const double mean = std::inner_product(dy, dy + f.dy.width, f.y.at(r.token, r.h), 0.0);
    if (g.sinks && sum != 0) g.sinks[r.h] -= std::exp(p.sinks[r.h] - largest) / sum * mean;
    for (std::int64_t j = 0; j < p.keys(r.s); ++j) {
      const double weight = w[static_cast<std::size_t>(j)], keep = reference::kept(p, r, j);
      if (weight == 0) continue;
      const std::int64_t t = p.key_row(r.s, j);
      const double dweight = keep * std::inner_product(dy, dy + f.dy.width, p.value(r.s, j, r.kv), 0.0);
      const double dscore = weight * (dweight - mean);
      reference::score(p, r, j, slope);
      for (std::size_t n = 0; n < g.terms.size(); ++n)
        if (g.terms[n]) g.terms[n][p.terms[n].index(r.place(p, j))] += dscore;
      for (std::int64_t c = 0; c < p.v.width; ++c) g.dv.at(t, r.kv)[c] += weight * keep * dy[c];
      for (std::int64_t c = 0; c < p.q.width; ++c) {
        g.dq.at(r.token, r.h)[c] += dscore * slope * p.key(r.s, j, r.kv)[c];
        g.dk.at(t, r.kv)[c] += dscore * slope * p.query(r.s, r.i, r.h)[c];
      }
    }
  });
}

void attention_weights(const AttentionProblem<double>& p, const WeightRows& wanted, double* weights) {
  reference::for_each_row(p, [&](const reference::AttentionRow& r) {
    if (r.s != wanted.sequence || r.i < wanted.begin || r.i >= wanted.end || !wanted.has_head(r.h)) return;
    double largest, sum;
    const std::vector<double> w = reference::weights(p, r, largest, sum);
    std::ranges::copy(w, weights + wanted.row(r.i, r.h, p.keys(r.s)));
  });
}

}  // namespace attune::kernels
