#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "attune/autograd/tape.h"
#include "attune/ops/attention.h"

/// What the tests of attention try it with.
namespace attune {

/// Sequences of the given (queries, keys), example ids 100, 101, ...
inline AttentionSequences sequences_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& lengths) {
  std::vector<std::int64_t> queries, keys, examples;
  for (auto [q, k] : lengths) {
    queries.push_back(q), keys.push_back(k);
    examples.push_back(100 + static_cast<std::int64_t>(examples.size()));
  }
  return {Offsets::from_lengths(queries), Offsets::from_lengths(keys), {}, examples};
}

/// One call's result and the gradients of q, k and v.
struct EvaluatedAttention {
  Tensor y, dq, dk, dv;

  EvaluatedAttention(const std::vector<Tensor>& qkv, const AttentionSequences& s, const AttentionRule& rule,
                     const Tensor& dy) {
    const Tensor q = require_gradient(qkv[0]), k = require_gradient(qkv[1]), v = require_gradient(qkv[2]);
    const Tensor result = attention(q, k, v, s, rule);
    backward(result, dy);
    y = result.detached(), dq = gradient_of(q), dk = gradient_of(k), dv = gradient_of(v);
  }
};

}  // namespace attune
