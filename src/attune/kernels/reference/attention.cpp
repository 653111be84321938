#include "attune/kernels/reference/attention.h"

#include <cmath>
#include <vector>

namespace attune::kernels {

namespace {

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t c = 0; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

struct Row {
  std::int64_t s, i, h, kv, token;  // sequence, query in it, query head, key head, row of q and y
};

template <class Work>
void for_each_row(const AttentionProblem<double>& p, Work&& work) {
  for (std::int64_t s = 0; s < p.sequences(); ++s)
    for (std::int64_t h = 0; h < p.q.heads; ++h)
      for (std::int64_t i = 0; i < p.queries(s); ++i)
        work(Row{s, i, h, h / p.group(), p.query_starts[static_cast<std::size_t>(s)] + i});
}

/// softmax(scale q_i k^T) over the keys that the row sees; `largest` and `sum` are its two normalisers.
std::vector<double> weights_of(const AttentionProblem<double>& p, const Row& r, double& largest, double& sum) {
  std::vector<double> w(static_cast<std::size_t>(p.visible(r.s, r.i)));
  largest = w.empty() ? 0 : -HUGE_VAL;
  sum = 0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    w[j] = p.scale * dot(p.query(r.s, r.i, r.h), p.key(r.s, static_cast<std::int64_t>(j), r.kv), p.q.width);
    largest = std::max(largest, w[j]);
  }
  for (double& x : w) sum += x = std::exp(x - largest);
  for (double& x : w) x /= sum;
  return w;
}

/// What dropout multiplies the weight of key j by.
double kept(const AttentionProblem<double>& p, const Row& r, std::int64_t j) {
  if (p.dropout.rate == 0) return 1;
  const auto example = static_cast<std::uint64_t>(p.examples[static_cast<std::size_t>(r.s)]);
  const auto position = static_cast<std::uint32_t>(p.first_positions[static_cast<std::size_t>(r.s)] + r.i);
  const auto numbers = philox(dropout_key(p.dropout, r.h), example, position, static_cast<std::uint32_t>(j / 4));
  const double rate = p.dropout.rate;
  return numbers[static_cast<std::size_t>(j % 4)] < static_cast<std::uint32_t>(rate * 0x1p32) ? 0 : 1 / (1 - rate);
}

}  // namespace

void attention(const AttentionProblem<double>& p, const HeadRows<double>& y, double* sums) {
  for_each_row(p, [&](const Row& r) {
    double* largest_and_sum = sums + (r.token * p.q.heads + r.h) * 2;
    std::vector<double> w = weights_of(p, r, largest_and_sum[0], largest_and_sum[1]);
    double* out = y.at(r.token, r.h);
    std::fill_n(out, y.width, 0.0);
    for (std::int64_t j = 0; j < p.visible(r.s, r.i); ++j)
      for (std::int64_t c = 0; c < y.width; ++c)
        out[c] += w[static_cast<std::size_t>(j)] * kept(p, r, j) * p.value(r.s, j, r.kv)[c];
  });
}

void attention_backward(const AttentionProblem<double>& p, const AttentionForward<double>& f,
                        const AttentionGradients<double>& g) {
  for (std::int64_t t = 0; t < p.query_starts.back(); ++t)
    for (std::int64_t h = 0; h < p.q.heads; ++h) std::fill_n(g.dq.at(t, h), g.dq.width, 0.0);
  for (std::int64_t t = 0; t < p.key_starts.back(); ++t)
    for (std::int64_t h = 0; h < p.k.heads; ++h)
      std::fill_n(g.dk.at(t, h), g.dk.width, 0.0), std::fill_n(g.dv.at(t, h), g.dv.width, 0.0);

  for_each_row(p, [&](const Row& r) {
    double largest, sum;
    std::vector<double> w = weights_of(p, r, largest, sum);
    const double* dy = f.dy.at(r.token, r.h);
    const double mean = dot(dy, f.y.at(r.token, r.h), f.y.width);  // sum over keys of dL/dw w
    for (std::int64_t j = 0; j < p.visible(r.s, r.i); ++j) {
      const double weight = w[static_cast<std::size_t>(j)], keep = kept(p, r, j);
      const std::int64_t t = p.key_starts[static_cast<std::size_t>(r.s)] + j;
      const double dweight = keep * dot(dy, p.value(r.s, j, r.kv), p.v.width);
      const double dscore = weight * (dweight - mean) * p.scale;
      for (std::int64_t c = 0; c < p.v.width; ++c) g.dv.at(t, r.kv)[c] += weight * keep * dy[c];
      for (std::int64_t c = 0; c < p.q.width; ++c) {
        g.dq.at(r.token, r.h)[c] += dscore * p.key(r.s, j, r.kv)[c];
        g.dk.at(t, r.kv)[c] += dscore * p.query(r.s, r.i, r.h)[c];
      }
    }
  });
}

void attention_weights(const AttentionProblem<double>& p, const QueryRange& queries, double* weights) {
  for_each_row(p, [&](const Row& r) {
    if (r.s != queries.sequence || r.i < queries.begin || r.i >= queries.end) return;
    double largest, sum;
    std::vector<double> w = weights_of(p, r, largest, sum);
    double* out = weights + (r.h * (queries.end - queries.begin) + r.i - queries.begin) * p.keys(r.s);
    std::fill(std::copy(w.begin(), w.end(), out), out + p.keys(r.s), 0.0);
  });
}

}  // namespace attune::kernels
