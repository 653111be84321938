#include "attune/kernels/reference/linear_recurrence.h"

#include <cmath>
#include <vector>

namespace attune::kernels {

namespace {

using Problem = LinearRecurrence<double>;

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t c = 0; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

struct Row {
  std::int64_t first, token, last;  // of the sequence: its first token, the query, the last key that it sees
  std::int64_t h, kv;
};

template <class Work>
void for_each_row(const Problem& p, Work&& work) {
  for (std::int64_t s = 0; s < p.sequences(); ++s)
    for (std::int64_t h = 0; h < p.q.heads; ++h)
      for (std::int64_t t = p.begin(s); t < p.begin(s + 1); ++t)
        work(Row{p.begin(s), t, p.causal ? t : p.begin(s + 1) - 1, h, h / p.group()});
}

/// decays[j][c]: the product of a over tokens j + 1 .. i, for the keys that the row sees. Summed up from i backwards,
/// so that a decay of 0 (log -infinity) hides what is before it and nothing else.
std::vector<std::vector<double>> decays_to(const Problem& p, const Row& r) {
  const auto width = static_cast<std::size_t>(p.q.width);
  std::vector<std::vector<double>> decays(static_cast<std::size_t>(r.last - r.first + 1),
                                          std::vector<double>(width, 1));
  if (!p.decays()) return decays;
  std::vector<double> log(width, 0);
  for (std::int64_t j = r.last; j >= r.first; --j)
    for (std::size_t c = 0; c < width; ++c) {
      decays[static_cast<std::size_t>(j - r.first)][c] = std::exp(log[c]);
      log[c] += p.log_decay(j, r.kv, static_cast<std::int64_t>(c));
    }
  return decays;
}

double weight(const Problem& p, const Row& r, std::int64_t j, const std::vector<double>& decay) {
  double sum = 0;
  for (std::int64_t c = 0; c < p.q.width; ++c)
    sum += p.q.at(r.token, r.h)[c] * p.k.at(j, r.kv)[c] * decay[static_cast<std::size_t>(c)];
  return p.scale * sum;
}

void clear(const HeadRows<double>& x, std::int64_t tokens) {
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t h = 0; h < x.heads; ++h) std::fill_n(x.at(t, h), x.width, 0.0);
}

}  // namespace

void linear_recurrence(const Problem& p, const RecurrenceResult<double>& result) {
  for_each_row(p, [&](const Row& r) {
    const auto decays = decays_to(p, r);
    double* y = result.y.at(r.token, r.h);
    std::fill_n(y, p.v.width, 0.0);
    double sum = 0;
    for (std::int64_t j = r.first; j <= r.last; ++j) {
      const double w = weight(p, r, j, decays[static_cast<std::size_t>(j - r.first)]);
      sum += w;
      for (std::int64_t c = 0; c < p.v.width; ++c) y[c] += w * p.v.at(j, r.kv)[c];
    }
    if (!p.normalised) return;
    result.sums[r.token * p.q.heads + r.h] = sum;
    for (std::int64_t c = 0; c < p.v.width; ++c) y[c] = sum == 0 ? 0 : y[c] / sum;
  });
}

void linear_recurrence_backward(const Problem& p, const RecurrenceForward<double>& f,
                                const RecurrenceGradients<double>& g) {
  const std::int64_t tokens = p.starts.back();
  clear(g.dq, tokens), clear(g.dk, tokens), clear(g.dv, tokens);
  if (g.token_decay.data) clear(g.token_decay, tokens);
  std::fill(g.head_decay.begin(), g.head_decay.end(), 0.0);

  for_each_row(p, [&](const Row& r) {
    const auto decays = decays_to(p, r);
    const double* dy = f.dy.at(r.token, r.h);
    const double sum = p.normalised ? f.sums[r.token * p.q.heads + r.h] : 1;
    if (sum == 0) return;
    const double mean = p.normalised ? dot(dy, f.y.at(r.token, r.h), p.v.width) : 0;
    std::vector<double> through(static_cast<std::size_t>(p.q.width), 0);  // dL/d(log decay) by keys before token j
    for (std::int64_t j = r.first; j <= r.last; ++j) {
      const std::vector<double>& decay = decays[static_cast<std::size_t>(j - r.first)];
      const double w = weight(p, r, j, decay);
      const double dw = (dot(dy, p.v.at(j, r.kv), p.v.width) - mean) / sum;
      for (std::int64_t c = 0; c < p.v.width; ++c) g.dv.at(j, r.kv)[c] += w * dy[c] / sum;
      for (std::int64_t c = 0; c < p.q.width; ++c) {
        const auto i = static_cast<std::size_t>(c);
        if (g.token_decay.data) g.token_decay.at(j, r.kv)[c] += through[i];
        if (!g.head_decay.empty()) g.head_decay[static_cast<std::size_t>(r.kv)] += through[i];
        const double q = p.q.at(r.token, r.h)[c], k = p.k.at(j, r.kv)[c], factor = dw * p.scale * decay[i];
        g.dq.at(r.token, r.h)[c] += factor * k;
        g.dk.at(j, r.kv)[c] += factor * q;
        through[i] += factor * q * k;
      }
    }
  });
}

void linear_recurrence_continue(const Problem& p, const HeadRows<double>& y, std::span<double* const> states) {
  const std::int64_t columns = p.columns();
  for (std::int64_t s = 0; s < p.sequences(); ++s)
    for (std::int64_t t = p.begin(s); t < p.begin(s + 1); ++t)
      for (std::int64_t kv = 0; kv < p.k.heads; ++kv) {
        double* state = states[static_cast<std::size_t>(s)] + kv * p.state_size();  // [width, columns]
        for (std::int64_t c = 0; c < p.q.width; ++c)
          for (std::int64_t e = 0; e < columns; ++e) {
            const double value = e < p.v.width ? p.v.at(t, kv)[e] : 1;
            double& at = state[c * columns + e];
            at = std::exp(p.log_decay(t, kv, c)) * at + p.k.at(t, kv)[c] * value;
          }
        for (std::int64_t h = kv * p.group(); h < (kv + 1) * p.group(); ++h) {
          std::vector<double> sums(static_cast<std::size_t>(columns), 0);
          for (std::int64_t c = 0; c < p.q.width; ++c)
            for (std::int64_t e = 0; e < columns; ++e)
              sums[static_cast<std::size_t>(e)] += p.scale * p.q.at(t, h)[c] * state[c * columns + e];
          const double sum = p.normalised ? sums.back() : 1;
          for (std::int64_t e = 0; e < p.v.width; ++e)
            y.at(t, h)[e] = sum == 0 ? 0 : sums[static_cast<std::size_t>(e)] / sum;
        }
      }
}

}  // namespace attune::kernels
