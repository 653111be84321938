#include "attune/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "attune/base/error.h"

namespace attune {

namespace {

std::int64_t most_probable(std::span<const float> logits) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

}  // namespace

void check_sampling(const Sampling& s) {
  check(s.temperature >= 0 && std::isfinite(s.temperature), "temperature is {}: give 0 (no sampling) or more",
        s.temperature);
  check(s.top_k >= 0, "top-k is {}: give 0 (all tokens) or more", s.top_k);
  check(s.top_p > 0 && s.top_p <= 1, "top-p is {}: give more than 0, at most 1", s.top_p);
}

std::int64_t choose_token(std::span<const float> logits, const Sampling& sampling, const RandomKey& key) {
  check(std::none_of(logits.begin(), logits.end(), [](float x) { return std::isnan(x); }),
        "decoding: a logit is not a number: the weights are damaged (attune verify says where)");
  if (sampling.temperature == 0) return most_probable(logits);
  std::vector<std::int64_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  auto logit = [&](std::int64_t token) { return logits[static_cast<std::size_t>(token)]; };
  auto before = [&](std::int64_t a, std::int64_t b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; };
  if (sampling.top_k > 0 && sampling.top_k < static_cast<std::int64_t>(tokens.size())) {
    std::partial_sort(tokens.begin(), tokens.begin() + sampling.top_k, tokens.end(), before);
    tokens.resize(static_cast<std::size_t>(sampling.top_k));
  } else if (sampling.top_p < 1) {
    std::sort(tokens.begin(), tokens.end(), before);
  }
  double greatest = static_cast<double>(logit(most_probable(logits))), sum = 0;
  std::vector<double> weights;
  for (std::int64_t token : tokens)
    sum += weights.emplace_back(std::exp((static_cast<double>(logit(token)) - greatest) / sampling.temperature));
  if (sampling.top_p < 1) {
    double reached = 0;
    std::size_t kept = 0;
    while (kept < weights.size() && reached < sampling.top_p * sum) reached += weights[kept++];
    weights.resize(kept);
    sum = reached;
  }
  double left = RandomStream(key).uniform() * sum;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if ((left -= weights[i]) < 0) return tokens[i];
  return tokens[weights.size() - 1];  // rounding used the sum up: the last one kept
}

}  // namespace attune
