#include "attune/train/optimizer.h"

#include <cmath>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/kernels/cpu/adamw.h"

namespace attune {

AdamW::AdamW(const ParameterSet& parameters, AdamWOptions options) : options_(options) {
  for (const Parameter& p : parameters.all()) {
    if (!p.trained) continue;
    check(p.value.dtype() == DType::F32, "training: {} is {}, and weights are trained in f32", p.name,
          name_of(p.value.dtype()));
    trained_.push_back({p.name, p.value, Tensor::zeros(p.value.shape()), Tensor::zeros(p.value.shape())});
  }
  check(!trained_.empty(), "training: the model was loaded without weights that can be trained");
}

double AdamW::gradient_norm() const {
  double sum = 0;
  for (const Trained& t : trained_)
    if (Tensor gradient = gradient_of(t.value); gradient.defined())
      sum += kernels::squared_norm(gradient.values<float>());
  return std::sqrt(sum);
}

void AdamW::step(double learning_rate, double gradient_factor) {
  steps_ += 1;
  for (Trained& t : trained_) {
    Tensor gradient = gradient_of(t.value);
    if (!gradient.defined()) continue;  // as torch.optim.AdamW: a weight that took no part is not decayed either
    kernels::AdamWRule rule{.learning_rate = learning_rate,
                            .beta1 = options_.beta1,
                            .beta2 = options_.beta2,
                            .epsilon = options_.epsilon,
                            .weight_decay = t.value.rank() >= 2 ? options_.weight_decay : 0,
                            .gradient_factor = gradient_factor,
                            .step = steps_};
    kernels::adamw(rule, {.parameter = t.value.detached().mutable_values<float>(),
                          .gradient = gradient.values<float>(),
                          .first = t.moment1.mutable_values<float>(),
                          .second = t.moment2.mutable_values<float>()});
    t.value.mark_changed();
  }
  clear_gradients();
}

void AdamW::clear_gradients() {
  for (const Trained& t : trained_) set_gradient(t.value, Tensor());
}

std::vector<NamedTensor> AdamW::state() const {
  std::vector<NamedTensor> all;
  for (const Trained& t : trained_) {
    all.push_back({"moment1/" + t.name, t.moment1});
    all.push_back({"moment2/" + t.name, t.moment2});
  }
  return all;
}

void AdamW::restore(const Checkpoint& state, std::int64_t steps) {
  for (Trained& t : trained_) {
    for (auto [kind, moment] : {std::pair("moment1/", t.moment1), std::pair("moment2/", t.moment2)}) {
      Tensor saved = state.tensor(kind + t.name);
      check(saved.shape() == moment.shape(), "{}{} is {} in the checkpoint, not {}", kind, t.name, saved.shape(),
            moment.shape());
      copy_into(saved, moment);
    }
  }
  steps_ = steps;
}

}  // namespace attune
