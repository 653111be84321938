#pragma once

#include <cstdint>
#include <span>

#include "attune/kernels/attention.h"

namespace attune::kernels {

/// For each sequence and head: S_t = diag(a_t) S_{t-1} + k_t v_t^T, y_t = scale S_t^T q_t, where S is [width, columns].
/// Not causal: y_t = scale S_last^T q_t, without decay. Query head h uses key head h / group().
template <class T>
struct LinearRecurrence {
  HeadRows<const T> q, k, v;             // v without data: nothing to compute
  std::span<const std::int64_t> starts;  // [sequences + 1]
  std::span<const T> head_decay = {};    // [kv_heads] log a of each head, or
  HeadRows<const T> token_decay = {};    // [tokens, kv_heads, width] log a of each value; without data: none
  double scale = 1;
  bool causal = true;
  /// v gets one more column of ones, and what that column gives divides the others (0 where it is 0).
  bool normalised = false;

  std::int64_t sequences() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::int64_t begin(std::int64_t s) const { return starts[static_cast<std::size_t>(s)]; }
  std::int64_t length(std::int64_t s) const { return begin(s + 1) - begin(s); }
  std::int64_t group() const { return q.heads / k.heads; }
  std::int64_t columns() const { return v.width + (normalised ? 1 : 0); }
  std::int64_t state_size() const { return q.width * columns(); }  // of one sequence and key head
  bool decays() const { return !head_decay.empty() || token_decay.data; }
  /// log a of value c of a token.
  T log_decay(std::int64_t token, std::int64_t kv_head, std::int64_t c) const {
    if (token_decay.data) return token_decay.at(token, kv_head)[c];
    return head_decay.empty() ? T{0} : head_decay[static_cast<std::size_t>(kv_head)];
  }
};

/// What the forward pass writes.
template <class T>
struct RecurrenceResult {
  HeadRows<T> y;
  T* sums = nullptr;  // [tokens, heads]: the divisors, where normalised
  T* kept = nullptr;  // states on the way, kept_states() values, for the backward pass; null: not wanted
};

template <class T>
struct RecurrenceForward {
  HeadRows<const T> y, dy;
  const T* sums;
  const T* kept;
};

template <class T>
struct RecurrenceGradients {
  HeadRows<T> dq, dk, dv;        // overwritten
  HeadRows<T> token_decay = {};  // overwritten, where there is one
  std::span<T> head_decay = {};  // overwritten, where there is one
};

}  // namespace attune::kernels
