#include "attune/nn/attention/families/recurrent_mixer.h"

#include <cmath>

#include "attune/base/error.h"
#include "attune/ops/layer_norm.h"

namespace attune {

Tensor recur(std::string_view family, const AttentionFamily::Input& in, const std::array<Tensor, 3>& qkv,
             const RecurrenceRule& rule) {
  check(in.rule.dropout.rate == 0,
        "{}: it makes no weights of tokens that could be dropped: set the dropout of attention weights to 0", family);
  if (in.batch.states) {
    std::vector<Tensor> states;
    for (KeyValueCache::Handle handle : in.batch.handles)
      states.push_back(
          in.batch.states->take(in.place.layer, handle, [&] { return recurrent_state(qkv[1], qkv[2], rule); }));
    return linear_recurrence_continue(qkv[0], qkv[1], qkv[2], in.batch.offsets, rule, states);
  }
  return linear_recurrence(qkv[0], qkv[1], qkv[2], in.batch.offsets, rule);
}

double scale_of(const AttentionFamily::Input& in) {
  return in.rule.scale.value_or(1 / std::sqrt(static_cast<double>(in.q.dim(2))));
}

Tensor head_norm(const Tensor& heads) {
  const Shape width = {heads.dim(2)};
  return layer_norm(heads, Tensor::full(width, 1, heads.dtype()), Tensor::zeros(width, heads.dtype()), 1e-5);
}

}  // namespace attune
