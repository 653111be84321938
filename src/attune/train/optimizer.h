#pragma once

#include <cstdint>
#include <vector>

#include "attune/checkpoint/safetensors.h"
#include "attune/nn/parameters.h"

namespace attune {

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;  // on parameters of two or more dimensions alone
};

/// AdamW (Loshchilov & Hutter 2019, algorithm 2) as torch.optim.AdamW computes it, over the trainable parameters of a
/// model. Moments are f32 and in the order of the parameters.
class AdamW {
 public:
  AdamW(const ParameterSet& parameters, AdamWOptions options);

  /// Norm of all gradients as one vector, summed in f64 in a fixed order. A parameter that no gradient reached counts
  /// 0.
  double gradient_norm() const;
  /// One update with every gradient times `gradient_factor` (clipping), then forgets the gradients and marks the
  /// weights as changed.
  void step(double learning_rate, double gradient_factor = 1);
  /// Forgets the gradients without a step.
  void clear_gradients();
  std::int64_t steps() const { return steps_; }

  /// Everything that a resumed run needs: "moment1/NAME", "moment2/NAME".
  std::vector<NamedTensor> state() const;
  /// Throws Error where the state is not of these parameters.
  void restore(const Checkpoint& state, std::int64_t steps);

 private:
  struct Trained {
    std::string name;
    Tensor value, moment1, moment2;
  };
  AdamWOptions options_;
  std::vector<Trained> trained_;
  std::int64_t steps_ = 0;
};

}  // namespace attune
