#include "attune/nn/attention/families/recurrent_mixer.h"
#include "attune/nn/norm/norm.h"
#include "attune/ops/activation.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// Gated linear attention (sections 4.2 and 4.4): S_t = diag(a_t) S_{t-1} + k_t v_t^T and y_t = q_t S_t /
/// sqrt(head_dim) with a_t = sigmoid(x_t W_1 W_2 + b)^(1 / temperature), each head normalised, times swish(x W_r +
/// b_r). W_O is MultiHead's.
struct GatedLinearAttention : RecurrentFamily {
  GatedLinearAttention(const Weights& w, const FamilyUse& use, std::int64_t rank, double gate_temperature)
      : narrow(w / "gk_proj" / 0, use.hidden_size, rank, {.bias = false}),
        wide(w / "gk_proj" / 1, rank, use.sizes.kv_width()),
        gate(w / "g_proj", use.hidden_size, use.sizes.query_width()),
        norm(Norm::layer(w / "g_norm", use.sizes.head_dim, 1e-5)),
        temperature(gate_temperature) {}

  Tensor mix(const Input& in) const override {
    const Tensor forget = activation(wide(narrow(in.x)), Activation::log_sigmoid);
    const Tensor log_decay = reshape(scale(forget, 1 / temperature), in.k.shape());
    const Tensor heads = recur("gla", in, {in.q, in.k, in.v}, {.log_decay = log_decay, .scale = scale_of(in)});
    return gated(reshape(gate(in.x), heads.shape()), norm(heads), Activation::silu);
  }

  Linear narrow, wide, gate;
  Norm norm;
  double temperature;
};

const RegisterFamily gla({
    .name = "gla",
    .paper = "Yang et al. 2024, Gated linear attention transformers with hardware-efficient training",
    .in_encoder = false,
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights& w) -> FamilyParts {
      const std::int64_t rank = config.integer_or("gate_rank", 16, {.at_least = 1, .at_most = 65536});
      const double temperature = config.number_or("gate_temperature", 16, {.at_least = 1e-3, .at_most = 1e6});
      return {.rule = {.mask = causal()}, .mixer = std::make_shared<GatedLinearAttention>(w, use, rank, temperature)};
    },
});

}  // namespace

}  // namespace attune
