#include "attune/nn/feedforward/experts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attune/base/error.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/combine_rows.h"
#include "attune/ops/softmax.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

Tensor as_indices(const std::vector<std::int64_t>& values) {
  return Tensor::from<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

/// The experts with the largest scores of each token, by number: [tokens, chosen].
std::vector<std::int64_t> best_experts(const Tensor& scores, std::int64_t chosen) {
  const std::int64_t tokens = scores.dim(0), experts = scores.dim(1);
  std::vector<double> all = scores.detached().to(DType::F64).to_vector<double>();
  for (double& score : all)
    if (std::isnan(score)) score = -std::numeric_limits<double>::infinity();  // an order needs numbers
  std::vector<std::int64_t> best, order(static_cast<std::size_t>(experts));
  for (std::int64_t t = 0; t < tokens; ++t) {
    const double* of = all.data() + t * experts;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + chosen, order.end(),
                      [of](std::int64_t a, std::int64_t b) { return of[a] > of[b] || (of[a] == of[b] && a < b); });
    std::sort(order.begin(), order.begin() + chosen);
    best.insert(best.end(), order.begin(), order.begin() + chosen);
  }
  return best;
}

/// Rows of (token, expert) pairs, sorted by expert and within one by token.
struct Groups {
  std::vector<std::int64_t> starts;  // [experts + 1]
  std::vector<std::int64_t> tokens;  // [pairs] of each row
  std::vector<std::int64_t> rows;    // [pairs] of each pair, in the order of `best`

  Groups(const std::vector<std::int64_t>& best, std::int64_t chosen, std::int64_t experts) {
    starts.assign(static_cast<std::size_t>(experts) + 1, 0);
    for (std::int64_t expert : best) ++starts[static_cast<std::size_t>(expert) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
    tokens.resize(best.size());
    for (std::size_t pair = 0; pair < best.size(); ++pair) {
      const std::int64_t row = next[static_cast<std::size_t>(best[pair])]++;
      tokens[static_cast<std::size_t>(row)] = static_cast<std::int64_t>(pair) / chosen;
      rows.push_back(row);
    }
  }
  std::int64_t begin(std::size_t expert) const { return starts[expert]; }
  std::int64_t end(std::size_t expert) const { return starts[expert + 1]; }
};

}  // namespace

Tensor Experts::operator()(const Tensor& x, const Batch& batch, const RandomKey& site) const {
  const std::int64_t tokens = x.dim(0), count = router.matrix().out_features();
  if (tokens == 0) return x;
  const Tensor scores = router(x), shares = softmax(scores);  // [tokens, experts]
  const std::vector<std::int64_t> best = best_experts(scores, chosen);
  const Groups groups(best, chosen, count);

  std::vector<std::int64_t> places;  // of each pair in [tokens, experts]
  for (std::size_t pair = 0; pair < best.size(); ++pair)
    places.push_back(static_cast<std::int64_t>(pair) / chosen * count + best[pair]);
  const bool of_chosen = weights == ExpertWeights::of_chosen;
  // Divided by their sum, shares of the softmax over all are the softmax over the chosen ones.
  Tensor weight = select_rows(reshape(of_chosen ? scores : shares, {tokens * count, 1}), as_indices(places));
  weight = reshape(weight, {tokens, chosen});
  if (of_chosen) weight = softmax(weight);

  const Tensor sorted = select_rows(x, as_indices(groups.tokens));  // [pairs, hidden]
  std::vector<Tensor> parts;
  for (std::size_t expert = 0; expert < networks.size(); ++expert)
    if (groups.begin(expert) < groups.end(expert))
      parts.push_back(networks[expert](row_range(sorted, groups.begin(expert), groups.end(expert)), batch, site));
  Tensor y = combine_rows(concatenate_rows(parts), weight, as_indices(groups.rows));

  if (shared) {
    Tensor all = (*shared)(x, batch, site);
    if (shared_gate) {
      std::vector<std::int64_t> rows(static_cast<std::size_t>(tokens));
      std::iota(rows.begin(), rows.end(), 0);
      all = combine_rows(all, activation((*shared_gate)(x), Activation::sigmoid), as_indices(rows));
    }
    y = add(y, all);
  }
  if (batch.routing) {
    std::vector<std::int64_t> counts;
    for (std::size_t expert = 0; expert < networks.size(); ++expert)
      counts.push_back(groups.end(expert) - groups.begin(expert));
    batch.routing->layers.push_back({shares, std::move(counts)});
  }
  return y;
}

Tensor balance_loss(const Routing& routing) {
  check(!routing.layers.empty(), "the balance of experts: no router ran");
  const std::size_t experts = routing.layers.front().counts.size();
  double rows = 0;
  std::vector<double> used(experts, 0);  // f_e, before the division
  for (const Routing::Layer& layer : routing.layers) {
    rows += static_cast<double>(layer.shares.dim(0));
    for (std::size_t e = 0; e < experts; ++e) used[e] += static_cast<double>(layer.counts[e]);
  }
  for (double& f : used) f *= static_cast<double>(experts) / (rows * rows);
  const DType type = routing.layers.front().shares.dtype();
  const LinearWeight by_use(Tensor::from<double>({1, static_cast<std::int64_t>(experts)}, used).to(type));
  Tensor loss;
  for (const Routing::Layer& layer : routing.layers) {
    const Tensor part = sum(linear(layer.shares, by_use));
    loss = loss.defined() ? add(loss, part) : part;
  }
  return loss;
}

}  // namespace attune
