#include <cmath>

#include "attune/base/threads.h"
#include "attune/nn/attention/families/recurrent_mixer.h"
#include "attune/ops/activation.h"
#include "attune/ops/rotary.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// Position n turns pair i of a head by n / 10000^(i / (pairs - 1)): the angles of the authors' code, evenly spaced in
/// their logarithm from 1 to 1/10000; neighbours are pairs.
template <class T>
RotaryTable retention_angles(std::span<const std::int64_t> positions, std::int64_t pairs) {
  const auto tokens = static_cast<std::int64_t>(positions.size());
  std::vector<double> speed(static_cast<std::size_t>(pairs), 1);
  for (std::int64_t i = 1; i < pairs; ++i)
    speed[static_cast<std::size_t>(i)] = std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(pairs - 1));
  const DType type = std::is_same_v<T, double> ? DType::F64 : DType::F32;
  RotaryTable table = {Tensor::empty({tokens, pairs}, type), Tensor::empty({tokens, pairs}, type),
                       RotaryPairing::interleaved};
  T *cos = table.cos.mutable_data<T>(), *sin = table.sin.mutable_data<T>();
  parallel(tokens, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t)
      for (std::int64_t i = 0; i < pairs; ++i) {
        const double angle =
            static_cast<double>(positions[static_cast<std::size_t>(t)]) * speed[static_cast<std::size_t>(i)];
        cos[t * pairs + i] = static_cast<T>(std::cos(angle)), sin[t * pairs + i] = static_cast<T>(std::sin(angle));
      }
  });
  return table;
}

/// Multi-scale retention (section 2.1 and 2.2): y_n = sum over m <= n of gamma^(n - m) (q_n . k_m) / sqrt(head_dim) v_m
/// with turned q and k and a gamma for each head, each head normalised, times swish(x W_G). W_O is MultiHead's.
class Retention : public RecurrentFamily {
 public:
  Retention(Linear gate, std::int64_t kv_heads) : gate_(std::move(gate)), kv_heads_(kv_heads) {}

  Tensor mix(const Input& in) const override {
    Tensor q = in.q, k = in.k;
    if (in.batch.rotary.empty()) {  // a model with rotary positions has turned them
      const auto positions = in.batch.positions.values<std::int64_t>();
      const RotaryTable table = q.dtype() == DType::F64 ? retention_angles<double>(positions, q.dim(2) / 2)
                                                        : retention_angles<float>(positions, q.dim(2) / 2);
      q = rotary(q, table), k = rotary(k, table);
    }
    const Tensor heads = recur("retnet", in, {q, k, in.v}, {.log_decay = decays(q.dtype()), .scale = scale_of(in)});
    const Tensor gates = reshape(gate_(in.x), heads.shape());
    return gated(gates, head_norm(heads), Activation::silu);
  }

 private:
  /// gamma = 1 - 2^(-5 - head) (equation 8).
  Tensor decays(DType type) const {
    Tensor log = Tensor::empty({kv_heads_}, DType::F64);
    for (std::int64_t h = 0; h < kv_heads_; ++h)
      log.mutable_data<double>()[h] = std::log1p(-std::exp2(-5.0 - static_cast<double>(h)));
    return log.to(type);
  }

  Linear gate_;
  std::int64_t kv_heads_;
};

const RegisterFamily retnet({
    .name = "retnet",
    .paper = "Sun et al. 2023, Retentive network",
    .in_encoder = false,
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights& w) -> FamilyParts {
      if (use.sizes.head_dim % 2 != 0)
        config.reject("family",
                      "retention turns pairs of values: head_dim must be even (hidden_size / num_attention_heads where "
                      "it is not given)");
      Linear gate(w / "g_proj", use.hidden_size, use.sizes.query_width(), {.bias = false});
      return {.rule = {.mask = causal()}, .mixer = std::make_shared<Retention>(std::move(gate), use.sizes.kv_heads)};
    },
});

}  // namespace

}  // namespace attune
