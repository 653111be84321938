#pragma once

#include <memory>
#include <vector>

#include "attune/checkpoint/checkpoint.h"
#include "attune/nn/parameters.h"

namespace attune {

/// Exponential moving average of a model's weights (Polyak & Juditsky 1992): average = decay * average + (1 - decay) *
/// weights after each step, with decay lowered to (1 + n) / (10 + n) in the first n steps. Decay 0 keeps nothing and
/// costs nothing.
class WeightsAverage {
 public:
  WeightsAverage(const ParameterSet& parameters, double decay);

  void update();
  std::vector<NamedTensor> state() const;  // "average/NAME", and how many steps it saw
  void restore(const Checkpoint& state);

  /// While this lives, the model has the averaged weights.
  class Swap {
   public:
    explicit Swap(WeightsAverage& average) : average_(&average) { average_->swap(); }
    ~Swap() { average_->swap(); }
    Swap(const Swap&) = delete;
    Swap& operator=(const Swap&) = delete;

   private:
    WeightsAverage* average_;
  };
  Swap swapped_in() { return Swap(*this); }

 private:
  void swap();

  const ParameterSet& parameters_;
  double decay_;
  std::int64_t updates_ = 0;
  std::vector<Tensor> averages_;
};

}  // namespace attune
