#include "attune/nn/attention/families/recurrent_mixer.h"
#include "attune/ops/activation.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// y_i = sum over j of f(q_i) . f(k_j) v_j / sum over j of f(q_i) . f(k_j) with f = elu + 1 (equations 4, 7 and 9);
/// over j <= i where it is causal. The scores have no scale.
class LinearAttention : public RecurrentFamily {
 public:
  explicit LinearAttention(bool causal) : causal_(causal) {}

  Tensor mix(const Input& in) const override {
    const auto feature = [](const Tensor& x) { return activation(contiguous(x), Activation::elu_plus_one); };
    return recur("linear", in, {feature(in.q), feature(in.k), in.v}, {.causal = causal_, .normalised = true});
  }

 private:
  bool causal_;
};

const RegisterFamily linear({
    .name = "linear",
    .paper = "Katharopoulos et al. 2020, Transformers are RNNs",
    .build = [](const ConfigReader&, const FamilyUse& use, const Weights&) -> FamilyParts {
      return {.rule = {.mask = use.causal ? causal() : bidirectional()},
              .mixer = std::make_shared<LinearAttention>(use.causal)};
    },
});

}  // namespace

}  // namespace attune
