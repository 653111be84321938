#include "attune/ops/attention.h"

#include <cmath>

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/attention.h"
#include "attune/kernels/reference/attention.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

template <class T>
kernels::HeadRows<const T> heads_of(const Tensor& x) {
  return {x.data<T>(), x.dim(1), x.dim(2), x.stride(0), x.stride(1)};
}
template <class T>
kernels::HeadRows<T> mutable_heads_of(const Tensor& x) {
  return {x.mutable_data<T>(), x.dim(1), x.dim(2), x.stride(0), x.stride(1)};
}

void check_inputs(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSequences& s) {
  check(q.rank() == 3 && k.rank() == 3 && v.rank() == 3,
        "attention: q {}, k {}, v {} are not all [tokens, heads, width]", q.shape(), k.shape(), v.shape());
  check(q.dtype() == k.dtype() && q.dtype() == v.dtype(), "attention: q, k, v are {}, {}, {}: expected one type",
        name_of(q.dtype()), name_of(k.dtype()), name_of(v.dtype()));
  check(q.dim(2) == k.dim(2) && q.dim(2) > 0, "attention: heads of q {} and of k {} differ in width", q.shape(),
        k.shape());
  check(k.dim(0) == v.dim(0) && k.dim(1) == v.dim(1), "attention: k {} and v {} differ in tokens or heads", k.shape(),
        v.shape());
  check(k.dim(1) > 0 && q.dim(1) % k.dim(1) == 0, "attention: {} query heads do not share {} key heads evenly",
        q.dim(1), k.dim(1));
  for (const Tensor* x : {&q, &k, &v})
    check(x->dim(2) <= 1 || x->stride(2) == 1, "attention: the values of one head of {} are not adjacent", x->shape());
  check(s.queries.count() == s.keys.count(), "attention: {} sequences of queries, {} of keys", s.queries.count(),
        s.keys.count());
  check(s.queries.total() == q.dim(0), "attention: the sequences have {} queries, q has {} rows", s.queries.total(),
        q.dim(0));
  check(s.keys.total() == k.dim(0), "attention: the sequences have {} keys, k has {} rows", s.keys.total(), k.dim(0));
}

/// All that a kernel needs besides the tensors' addresses; shared with the backward pass.
struct Setting {
  AttentionSequences sequences;
  AttentionRule rule;
  double scale;

  Setting(AttentionSequences s, const AttentionRule& r, std::int64_t head_dim)
      : sequences(std::move(s)), rule(r), scale(r.scale.value_or(1 / std::sqrt(static_cast<double>(head_dim)))) {
    const auto count = static_cast<std::size_t>(sequences.queries.count());
    std::vector<std::int64_t>& first = sequences.first_positions;
    check(first.empty() || first.size() == count, "attention: {} first positions for {} sequences", first.size(),
          count);
    for (std::size_t i = first.size(); i < count; ++i) {
      const auto s_i = static_cast<std::int64_t>(i);
      first.push_back(sequences.keys.length(s_i) - sequences.queries.length(s_i));
    }
    const float rate = rule.dropout.rate;
    check(rate >= 0 && rate < 1, "attention: the dropout rate is {}: expected 0 <= rate < 1", rate);
    check(rate == 0 || sequences.examples.size() == count,
          "attention: dropout is keyed by example: {} ids for {} sequences", sequences.examples.size(), count);
    check(std::isfinite(scale), "attention: the scale is {}", scale);
  }

  template <class T>
  kernels::AttentionProblem<T> problem(const Tensor& q, const Tensor& k, const Tensor& v) const {
    return {.q = heads_of<T>(q),
            .k = heads_of<T>(k),
            .v = heads_of<T>(v),
            .query_starts = sequences.queries.starts(),
            .key_starts = sequences.keys.starts(),
            .first_positions = sequences.first_positions,
            .examples = sequences.examples,
            .mask = rule.mask,
            .scale = scale,
            .dropout = rule.dropout};
  }
};

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSequences& sequences,
                 const AttentionRule& rule) {
  check_inputs(q, k, v, sequences);
  auto setting = std::make_shared<const Setting>(sequences, rule, q.dim(2));
  Tensor y = Tensor::empty({q.dim(0), q.dim(1), v.dim(2)}, q.dtype());
  Tensor sums = Tensor::empty({q.dim(0), q.dim(1), 2}, q.dtype());  // the two parts of each row's log-sum-exp
  dispatch("attention", q.dtype(), [&]<class T>() {
    kernels::attention(setting->problem<T>(q, k, v), mutable_heads_of<T>(y), sums.mutable_data<T>());
  });
  if (!needs_gradient({q, k, v})) return y;
  const Tensor qd = q.detached(), kd = k.detached(), vd = v.detached(), yd = y.detached();
  return record("attention", y, {q, k, v}, [=](const Tensor& dy, Gradients& gradients) {
    Tensor dq = Tensor::like(qd), dk = Tensor::like(kd), dv = Tensor::like(vd);
    const Tensor dy_rows = dy.contiguous();
    dispatch("attention", qd.dtype(), [&]<class T>() {
      kernels::attention_backward(
          setting->problem<T>(qd, kd, vd),
          kernels::AttentionForward<T>{heads_of<T>(yd), heads_of<T>(dy_rows), sums.data<T>()},
          kernels::AttentionGradients<T>{mutable_heads_of<T>(dq), mutable_heads_of<T>(dk), mutable_heads_of<T>(dv)});
    });
    gradients.add(0, dq);
    gradients.add(1, dk);
    gradients.add(2, dv);
  });
}

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionSequences& sequences,
                         const AttentionRule& rule, const kernels::QueryRange& queries) {
  check_inputs(q, k, k, sequences);
  forbid_gradient("attention_weights", {q, k});
  const Setting setting(sequences, {.mask = rule.mask, .scale = rule.scale}, q.dim(2));
  check(0 <= queries.sequence && queries.sequence < sequences.queries.count(),
        "attention_weights: no sequence {} among {}", queries.sequence, sequences.queries.count());
  check(0 <= queries.begin && queries.begin <= queries.end && queries.end <= sequences.queries.length(queries.sequence),
        "attention_weights: no queries [{}, {}) in a sequence of {}", queries.begin, queries.end,
        sequences.queries.length(queries.sequence));
  Tensor weights =
      Tensor::empty({q.dim(1), queries.end - queries.begin, sequences.keys.length(queries.sequence)}, q.dtype());
  dispatch("attention_weights", q.dtype(), [&]<class T>() {
    kernels::attention_weights(setting.problem<T>(q, k, k), queries, weights.mutable_data<T>());
  });
  return weights;
}

}  // namespace attune
