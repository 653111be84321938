#include "attune/ops/linear_recurrence.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/linear_recurrence.h"
#include "attune/kernels/reference/linear_recurrence.h"
#include "attune/ops/dispatch.h"
#include "attune/ops/head_rows.h"

namespace attune {

namespace {

/// All that a kernel reads; shared with the backward pass.
struct Inputs {
  Tensor q, k, v, log_decay;
  Offsets sequences;
  bool causal, normalised;
  double scale;

  Inputs(const std::array<Tensor, 3>& qkv, const Offsets& s, const RecurrenceRule& rule)
      : q(qkv[0].detached()),
        k(qkv[1].detached()),
        v(qkv[2].detached()),
        log_decay(rule.log_decay.defined() ? rule.log_decay.detached() : Tensor()),
        sequences(s),
        causal(rule.causal),
        normalised(rule.normalised),
        scale(rule.scale) {
    check(q.rank() == 3 && k.rank() == 3 && v.rank() == 3,
          "linear_recurrence: q {}, k {}, v {} are not all [tokens, heads, width]", q.shape(), k.shape(), v.shape());
    check(q.dtype() == k.dtype() && q.dtype() == v.dtype(),
          "linear_recurrence: q, k, v are {}, {}, {}: expected one type", name_of(q.dtype()), name_of(k.dtype()),
          name_of(v.dtype()));
    check(q.dim(2) == k.dim(2) && q.dim(2) > 0 && v.dim(2) > 0,
          "linear_recurrence: heads of q {} and k {} differ in width, or v {} has none", q.shape(), k.shape(),
          v.shape());
    check(q.dim(0) == k.dim(0) && k.dim(0) == v.dim(0) && k.dim(1) == v.dim(1),
          "linear_recurrence: q {}, k {} and v {} differ in tokens or heads", q.shape(), k.shape(), v.shape());
    check(k.dim(1) > 0 && q.dim(1) > 0 && q.dim(1) % k.dim(1) == 0,
          "linear_recurrence: {} query heads do not share {} key heads evenly", q.dim(1), k.dim(1));
    for (const Tensor* x : {&q, &k, &v})
      check(x->dim(2) <= 1 || x->stride(2) == 1, "linear_recurrence: the values of one head of {} are not adjacent",
            x->shape());
    check(sequences.total() == q.dim(0), "linear_recurrence: the sequences have {} tokens, q has {} rows",
          sequences.total(), q.dim(0));
    check(std::isfinite(scale), "linear_recurrence: the scale is {}", scale);
    if (!log_decay.defined()) return;
    check(causal, "linear_recurrence: a decay has a direction: only a causal rule takes one");
    check(log_decay.dtype() == q.dtype(), "linear_recurrence: log_decay is {}, q {}", name_of(log_decay.dtype()),
          name_of(q.dtype()));
    check(per_head() || log_decay.shape() == k.shape(),
          "linear_recurrence: log_decay {} is neither [{}] nor {}, a value for each head or for each of k's",
          log_decay.shape(), k.dim(1), k.shape());
    check(log_decay.stride(-1) == 1 || log_decay.dim(-1) <= 1,
          "linear_recurrence: the values of log_decay {} are not adjacent", log_decay.shape());
  }

  bool per_head() const { return log_decay.defined() && log_decay.shape() == Shape{k.dim(1)}; }
  bool per_token() const { return log_decay.defined() && !per_head(); }

  template <class T>
  kernels::LinearRecurrence<T> problem() const {
    kernels::LinearRecurrence<T> p = {.q = heads_of<T>(q),
                                      .k = heads_of<T>(k),
                                      .v = heads_of<T>(v),
                                      .starts = sequences.starts(),
                                      .scale = scale,
                                      .causal = causal,
                                      .normalised = normalised};
    if (per_head()) p.head_decay = log_decay.values<T>();
    if (per_token()) p.token_decay = heads_of<T>(log_decay);
    return p;
  }
};

/// What the forward pass leaves for the backward pass.
struct Kept {
  Tensor y, sums, states;  // y and sums only where normalised
};

void backward_of(const Inputs& in, const Kept& kept, const Tensor& dy, Gradients& gradients) {
  Tensor dq = Tensor::like(in.q), dk = Tensor::like(in.k), dv = Tensor::like(in.v);
  Tensor ddecay = in.log_decay.defined() ? Tensor::like(in.log_decay) : Tensor();
  const Tensor dy_rows = dy.contiguous();
  dispatch("linear_recurrence", in.q.dtype(), [&]<class T>() {
    kernels::RecurrenceForward<T> f = {{}, heads_of<T>(dy_rows), nullptr, nullptr};
    if (in.normalised) f.y = heads_of<T>(kept.y), f.sums = kept.sums.data<T>();
    if (kept.states.defined()) f.kept = kept.states.data<T>();
    kernels::RecurrenceGradients<T> g = {mutable_heads_of<T>(dq), mutable_heads_of<T>(dk), mutable_heads_of<T>(dv)};
    if (in.per_token()) g.token_decay = mutable_heads_of<T>(ddecay);
    if (in.per_head()) g.head_decay = ddecay.mutable_values<T>();
    kernels::linear_recurrence_backward(in.problem<T>(), f, g);
  });
  gradients.add(0, dq);
  gradients.add(1, dk);
  gradients.add(2, dv);
  if (ddecay.defined()) gradients.add(3, ddecay);
}

}  // namespace

Tensor linear_recurrence(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& sequences,
                         const RecurrenceRule& rule) {
  auto in = std::make_shared<const Inputs>(std::array{q, k, v}, sequences, rule);
  std::vector<Tensor> inputs = {q, k, v};
  if (rule.log_decay.defined()) inputs.push_back(rule.log_decay);
  const bool recorded = std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return needs_gradient(x); });
  Tensor y = Tensor::empty({q.dim(0), q.dim(1), v.dim(2)}, q.dtype());
  Kept kept;
  dispatch("linear_recurrence", q.dtype(), [&]<class T>() {
    const auto problem = in->problem<T>();
    kernels::RecurrenceResult<T> result = {.y = mutable_heads_of<T>(y)};
    if (in->normalised) {
      kept.y = y.detached(), kept.sums = Tensor::empty({q.dim(0), q.dim(1)}, q.dtype());
      result.sums = kept.sums.mutable_data<T>();
    }
    if (const std::int64_t count = recorded ? kernels::kept_states(problem) : 0; count > 0) {
      kept.states = Tensor::empty({count}, q.dtype());
      result.kept = kept.states.mutable_data<T>();
    }
    kernels::linear_recurrence(problem, result);
  });
  if (!recorded) return y;
  return record("linear_recurrence", y, inputs,
                [in, kept](const Tensor& dy, Gradients& gradients) { backward_of(*in, kept, dy, gradients); });
}

Tensor recurrent_state(const Tensor& k, const Tensor& v, const RecurrenceRule& rule) {
  return Tensor::zeros({k.dim(1), k.dim(2), v.dim(2) + (rule.normalised ? 1 : 0)}, k.dtype());
}

Tensor linear_recurrence_continue(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& sequences,
                                  const RecurrenceRule& rule, std::span<const Tensor> states) {
  const Inputs in({q, k, v}, sequences, rule);
  forbid_gradient("linear_recurrence_continue", {q, k, v});
  if (rule.log_decay.defined()) forbid_gradient("linear_recurrence_continue", {rule.log_decay});
  check(rule.causal, "linear_recurrence_continue: a rule that is not causal needs the whole sequence at once");
  check(static_cast<std::int64_t>(states.size()) == sequences.count(),
        "linear_recurrence_continue: {} states for {} sequences", states.size(), sequences.count());
  const Shape expected = {k.dim(1), k.dim(2), v.dim(2) + (rule.normalised ? 1 : 0)};
  for (const Tensor& state : states)
    check(state.shape() == expected && state.dtype() == q.dtype() && state.is_contiguous(),
          "linear_recurrence_continue: a state {} {} is not {} {}, contiguous", name_of(state.dtype()), state.shape(),
          name_of(q.dtype()), expected);
  Tensor y = Tensor::empty({q.dim(0), q.dim(1), v.dim(2)}, q.dtype());
  dispatch("linear_recurrence_continue", q.dtype(), [&]<class T>() {
    std::vector<T*> at;
    for (const Tensor& state : states) at.push_back(state.mutable_data<T>());
    kernels::linear_recurrence_continue(in.problem<T>(), mutable_heads_of<T>(y), at);
  });
  for (const Tensor& state : states) state.mark_changed();
  return y;
}

}  // namespace attune
