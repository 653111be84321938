#include "attune/ops/attention.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/attention.h"
#include "attune/kernels/reference/attention.h"
#include "attune/ops/attention_setting.h"
#include "attune/ops/dispatch.h"
#include "attune/ops/head_rows.h"

namespace attune {

namespace {

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

  std::int64_t group() const { return q.dim(1) / k.dim(1); }
  HeadRange key_heads(const HeadRange& heads) const { return {heads.begin / group(), (heads.end - 1) / group() + 1}; }
  template <class T>
  PreparedAttention<T> prepare(const HeadRange& heads) const {
    PreparedAttention<T> ready = setting.prepare<T>(heads);
    ready.problem.q = heads_of<T>(q, heads);
    ready.problem.k = heads_of<T>(k, key_heads(heads)), ready.problem.v = heads_of<T>(v, key_heads(heads));
    return ready;
  }
};

/// What the rule's score changes learn, as inputs of the tape behind q, k and v: of each addition its numbers, or rows
/// and table; then the sinks.
std::vector<Tensor> learned_by(const AttentionSetting& setting) {
  std::vector<Tensor> all;
  for (const ScoreAddition& addition : setting.additions()) {
    if (addition.values.defined()) all.push_back(addition.values);
    if (addition.table.defined()) all.insert(all.end(), {addition.rows, addition.table});
  }
  if (setting.sinks().defined()) all.push_back(setting.sinks());
  return all;
}

/// The gradient of the score changes: sums of the tape, to which each range of heads adds.
struct ScoreGradients {
  std::vector<Tensor> values, rows, tables;  // one an addition; not defined: none, or not wanted
  Tensor sinks;

  ScoreGradients(const AttentionSetting& setting, Gradients& gradients) {
    int input = 3;
    auto next = [&](const Tensor& x) {
      if (!x.defined()) return Tensor();
      const int i = input++;
      return gradients.wanted(i) ? gradients.accumulator(i) : Tensor();
    };
    for (const ScoreAddition& addition : setting.additions()) {
      values.push_back(next(addition.values));
      rows.push_back(next(addition.rows)), tables.push_back(next(addition.table));
    }
    sinks = next(setting.sinks());
  }
};

/// Both passes are made for some heads after the other.
template <class T>
void forward_heads(const Call& call, const HeadRange& heads, const Tensor& y, const Tensor& sums) {
  const PreparedAttention<T> ready = call.prepare<T>(heads);
  kernels::attention(ready.problem, mutable_heads_of<T>(y, heads),
                     sums.mutable_data<T>() + heads.begin * sums.stride(0));
}

template <class T>
void backward_heads(const Call& call, const HeadRange& heads, const kernels::AttentionForward<T>& forward,
                    const kernels::AttentionGradients<T>& of_inputs, const ScoreGradients& scores) {
  const PreparedAttention<T> ready = call.prepare<T>(heads);
  kernels::AttentionGradients<T> g = of_inputs;
  std::vector<T*> terms;
  std::vector<Tensor> dproducts;
  for (std::size_t n = 0; n < ready.terms.size(); ++n) {
    const bool made = scores.rows[n].defined() || scores.tables[n].defined();
    dproducts.push_back(made ? Tensor::zeros(ready.products[n].shape(), ready.products[n].dtype()) : Tensor());
    if (made)
      terms.push_back(dproducts[n].mutable_data<T>());
    else if (scores.values[n].defined())
      terms.push_back(scores.values[n].mutable_data<T>() + heads.begin * scores.values[n].stride(0));
    else
      terms.push_back(nullptr);
  }
  g.terms = terms;
  if (scores.sinks.defined()) g.sinks = scores.sinks.mutable_data<T>() + heads.begin;
  kernels::attention_backward(ready.problem, forward, g);
  for (std::size_t n = 0; n < dproducts.size(); ++n)
    if (dproducts[n].defined())
      RelativeProducts(call.setting.additions()[n], heads)
          .add_gradients(dproducts[n], scores.rows[n], scores.tables[n]);
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSequences& sequences,
                 const AttentionRule& rule) {
  check_inputs(q, k, v, sequences);
  auto call = std::make_shared<const Call>(
      Call{AttentionSetting("attention", sequences, rule, q, k), q.detached(), k.detached(), v.detached()});
  const std::vector<HeadRange> ranges = call->setting.head_ranges(call->group());
  Tensor y = Tensor::empty({q.dim(0), q.dim(1), v.dim(2)}, q.dtype());
  Tensor sums = Tensor::empty({q.dim(1), q.dim(0), 2}, q.dtype());  // the two parts of each row's log-sum-exp
  dispatch("attention", q.dtype(), [&]<class T>() {
    for (const HeadRange& heads : ranges) forward_heads<T>(*call, heads, y, sums);
  });
  std::vector<Tensor> inputs = {q, k, v};
  for (const Tensor& x : learned_by(call->setting)) inputs.push_back(x);
  return record("attention", y, inputs, [call, ranges, sums, y = y.detached()](const Tensor& dy, Gradients& gradients) {
    Tensor dq = Tensor::like(call->q), dk = Tensor::like(call->k), dv = Tensor::like(call->v);
    const Tensor dy_rows = dy.contiguous();
    const ScoreGradients scores(call->setting, gradients);
    dispatch("attention", dq.dtype(), [&]<class T>() {
      for (const HeadRange& heads : ranges) {
        const HeadRange of_keys = call->key_heads(heads);
        backward_heads<T>(
            *call, heads,
            {heads_of<T>(y, heads), heads_of<T>(dy_rows, heads), sums.data<T>() + heads.begin * sums.stride(0)},
            {mutable_heads_of<T>(dq, heads), mutable_heads_of<T>(dk, of_keys), mutable_heads_of<T>(dv, of_keys)},
            scores);
      }
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
    kernels::attention_weights(call.prepare<T>({0, q.dim(1)}).problem, wanted, weights.mutable_data<T>());
  });
  return weights;
}

}  // namespace attune
