#include "attune/ops/attention.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/attention.h"
#include "attune/kernels/reference/attention.h"
#include "attune/ops/attention_setting.h"
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

/// A call with its tensors, kept for the backward pass.
struct Call {
  AttentionSetting setting;
  Tensor q, k, v;  // outside of the tape

  template <class T, class Work>
  void with_problem(Work&& work) const {
    std::vector<kernels::ScoreTerm<T>> terms;
    kernels::AttentionProblem<T> problem = setting.problem<T>(terms);
    problem.q = heads_of<T>(q), problem.k = heads_of<T>(k), problem.v = heads_of<T>(v);
    work(problem);
  }
};

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSequences& sequences,
                 const AttentionRule& rule) {
  check_inputs(q, k, v, sequences);
  auto call = std::make_shared<const Call>(
      Call{AttentionSetting("attention", sequences, rule, q, k), q.detached(), k.detached(), v.detached()});
  Tensor y = Tensor::empty({q.dim(0), q.dim(1), v.dim(2)}, q.dtype());
  Tensor sums = Tensor::empty({q.dim(0), q.dim(1), 2}, q.dtype());  // the two parts of each row's log-sum-exp
  dispatch("attention", q.dtype(), [&]<class T>() {
    call->with_problem<T>(
        [&](const auto& problem) { kernels::attention(problem, mutable_heads_of<T>(y), sums.mutable_data<T>()); });
  });
  std::vector<Tensor> inputs = {q, k, v};
  inputs.insert(inputs.end(), call->setting.learned().begin(), call->setting.learned().end());
  return record("attention", y, inputs, [call, sums, y = y.detached()](const Tensor& dy, Gradients& gradients) {
    Tensor dq = Tensor::like(call->q), dk = Tensor::like(call->k), dv = Tensor::like(call->v);
    const Tensor dy_rows = dy.contiguous();
    dispatch("attention", dq.dtype(), [&]<class T>() {
      kernels::AttentionGradients<T> g = {mutable_heads_of<T>(dq), mutable_heads_of<T>(dk), mutable_heads_of<T>(dv)};
      const int learned = static_cast<int>(call->setting.learned().size()), sinks = call->setting.has_sinks() ? 1 : 0;
      auto sum_of = [&](int i) {
        return gradients.wanted(3 + i) ? gradients.accumulator(3 + i).template mutable_data<T>() : nullptr;
      };
      std::vector<T*> terms;
      for (int i = 0; i < learned - sinks; ++i) terms.push_back(sum_of(i));
      g.terms = terms;
      if (sinks == 1) g.sinks = sum_of(learned - 1);
      call->with_problem<T>([&](const auto& problem) {
        kernels::attention_backward(problem, {heads_of<T>(y), heads_of<T>(dy_rows), sums.data<T>()}, g);
      });
    });
    gradients.add(0, dq);
    gradients.add(1, dk);
    gradients.add(2, dv);
  });
}

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionSequences& sequences,
                         const AttentionRule& rule, const kernels::WeightRows& rows) {
  check_inputs(q, k, k, sequences);
  forbid_gradient("attention_weights", {q, k});
  AttentionRule without_dropout = rule;
  without_dropout.dropout = {};
  const Call call{AttentionSetting("attention_weights", sequences, without_dropout, q, k), q, k, k};
  check(0 <= rows.sequence && rows.sequence < sequences.queries.count(), "attention_weights: no sequence {} among {}",
        rows.sequence, sequences.queries.count());
  check(0 <= rows.begin && rows.begin <= rows.end && rows.end <= sequences.queries.length(rows.sequence),
        "attention_weights: no queries [{}, {}) in a sequence of {}", rows.begin, rows.end,
        sequences.queries.length(rows.sequence));
  kernels::WeightRows wanted = rows;
  if (wanted.heads == 0) wanted.heads = q.dim(1) - wanted.first_head;
  check(0 <= wanted.first_head && 0 < wanted.heads && wanted.first_head + wanted.heads <= q.dim(1),
        "attention_weights: no heads [{}, {}) among {}", wanted.first_head, wanted.first_head + wanted.heads, q.dim(1));
  Tensor weights = Tensor::empty({wanted.heads, wanted.queries(), sequences.keys.length(wanted.sequence)}, q.dtype());
  dispatch("attention_weights", q.dtype(), [&]<class T>() {
    call.with_problem<T>(
        [&](const auto& problem) { kernels::attention_weights(problem, wanted, weights.mutable_data<T>()); });
  });
  return weights;
}

}  // namespace attune
