#include "attune/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attune/base/error.h"
#include "attune/kernels/cpu/first_above.h"

namespace attune {

namespace {

using Tokens = std::vector<TokenProbability>;

/// Of equally probable ones the higher id is first, as in transformers, which sorts upwards and cuts below.
bool before(const TokenProbability& a, const TokenProbability& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.token > b.token;
}

double sum_of(const Tokens& tokens) {
  double sum = 0;
  for (const TokenProbability& one : tokens) sum += one.probability;
  return sum;
}

std::int64_t most_probable(std::span<const float> logits) {
  const auto count = static_cast<std::int64_t>(logits.size());
  std::int64_t best = 0;
  for (std::int64_t i = 0; i < count; i = kernels::first_above(logits, logits[static_cast<std::size_t>(best)], i + 1))
    best = i;
  return best;
}

void check_logits(std::span<const float> logits) {
  check(std::none_of(logits.begin(), logits.end(), [](float x) { return !(x <= std::numeric_limits<float>::max()); }),
        "decoding: a logit is not a number: the weights are damaged (attune verify says where)");
  check(std::any_of(logits.begin(), logits.end(), [](float x) { return x > -std::numeric_limits<float>::infinity(); }),
        "decoding: no token is possible: the rules forbid all of them");
}

/// The lowest logit of the k greatest.
float kth_greatest(std::span<const float> logits, std::int64_t k) {
  std::vector<float> copy(logits.begin(), logits.end());
  const auto place = copy.begin() + (k - 1);
  std::nth_element(copy.begin(), place, copy.end(), std::greater<>());
  return *place;
}

/// exp((logit - greatest) / temperature) of those within top_k.
Tokens weighed(std::span<const float> logits, const Sampling& sampling) {
  float lowest = -std::numeric_limits<float>::infinity();
  if (sampling.top_k > 0 && sampling.top_k < static_cast<std::int64_t>(logits.size()))
    lowest = kth_greatest(logits, sampling.top_k);
  const auto greatest = static_cast<double>(logits[static_cast<std::size_t>(most_probable(logits))]);
  Tokens tokens;
  for (std::size_t t = 0; t < logits.size(); ++t)
    if (logits[t] >= lowest && logits[t] > -std::numeric_limits<float>::infinity())
      tokens.push_back(
          {static_cast<std::int64_t>(t), std::exp((static_cast<double>(logits[t]) - greatest) / sampling.temperature)});
  return tokens;
}

/// Most probable first, until their probabilities reach p.
Tokens nucleus(Tokens tokens, double p) {
  const double wanted = p * sum_of(tokens);
  const auto lower = [](const TokenProbability& a, const TokenProbability& b) { return before(b, a); };
  std::make_heap(tokens.begin(), tokens.end(), lower);
  Tokens kept;
  for (double reached = 0; reached < wanted && !tokens.empty(); reached += kept.back().probability) {
    std::pop_heap(tokens.begin(), tokens.end(), lower);
    kept.push_back(tokens.back());
    tokens.pop_back();
  }
  return kept;
}

void drop_improbable(Tokens& tokens, double p) {
  double most = 0;
  for (const TokenProbability& one : tokens) most = std::max(most, one.probability);
  std::erase_if(tokens, [&](const TokenProbability& one) { return one.probability < p * most; });
}

/// By |surprise - entropy|, ascending, until their probabilities reach p; those as near as the last one, too.
Tokens typical(const Tokens& tokens, double p) {
  const double sum = sum_of(tokens);
  double entropy = 0;
  for (const TokenProbability& one : tokens)
    if (one.probability > 0) entropy -= one.probability / sum * std::log(one.probability / sum);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    order.emplace_back(std::abs(-std::log(tokens[i].probability / sum) - entropy), i);
  std::sort(order.begin(), order.end());
  Tokens kept;
  double reached = 0, farthest = 0;
  for (const auto& [distance, i] : order) {
    if (reached >= p * sum && distance > farthest) break;
    if (reached < p * sum) farthest = distance;
    reached += tokens[i].probability;
    kept.push_back(tokens[i]);
  }
  return kept;
}

}  // namespace

void check_sampling(const Sampling& s) {
  check(s.temperature >= 0 && std::isfinite(s.temperature), "temperature is {}: give 0 (no sampling) or more",
        s.temperature);
  check(s.top_k >= 0, "top-k is {}: give 0 (all tokens) or more", s.top_k);
  check(s.top_p > 0 && s.top_p <= 1, "top-p is {}: give more than 0, at most 1", s.top_p);
  check(s.min_p >= 0 && s.min_p <= 1, "min-p is {}: give 0 (all tokens) to 1", s.min_p);
  check(s.typical_p > 0 && s.typical_p <= 1, "typical-p is {}: give more than 0, at most 1", s.typical_p);
}

std::vector<TokenProbability> drawn_from(std::span<const float> logits, const Sampling& sampling) {
  check_logits(logits);
  Tokens tokens = weighed(logits, sampling);
  if (sampling.top_p < 1) tokens = nucleus(std::move(tokens), sampling.top_p);
  if (sampling.min_p > 0) drop_improbable(tokens, sampling.min_p);
  if (sampling.typical_p < 1) tokens = typical(tokens, sampling.typical_p);
  return tokens;
}

std::int64_t choose_token(std::span<const float> logits, const Sampling& sampling, const RandomKey& key) {
  if (sampling.temperature == 0) {
    check_logits(logits);
    return most_probable(logits);
  }
  const std::vector<TokenProbability> tokens = drawn_from(logits, sampling);
  double left = RandomStream(key).uniform() * sum_of(tokens);
  std::int64_t last = tokens.front().token;
  for (const TokenProbability& one : tokens) {
    if (one.probability > 0) last = one.token;
    if ((left -= one.probability) < 0) return one.token;
  }
  return last;  // rounding used the sum up: the last one that can be drawn
}

}  // namespace attune
