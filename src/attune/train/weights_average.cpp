#include "attune/train/weights_average.h"

#include <algorithm>

namespace attune {

WeightsAverage::WeightsAverage(const ParameterSet& parameters, double decay) : parameters_(parameters), decay_(decay) {
  if (decay_ == 0) return;
  for (const Parameter& p : parameters.all()) averages_.push_back(p.value.clone());
}

void WeightsAverage::update() {
  if (decay_ == 0) return;
  updates_ += 1;
  double n = static_cast<double>(updates_);
  auto keep = static_cast<float>(std::min(decay_, (1 + n) / (10 + n)));
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    std::span<const float> now = parameters_.all()[i].value.values<float>();
    std::span<float> average = averages_[i].mutable_values<float>();
    for (std::size_t j = 0; j < average.size(); ++j) average[j] = keep * average[j] + (1 - keep) * now[j];
  }
}

std::vector<NamedTensor> WeightsAverage::state() const {
  std::vector<NamedTensor> all;
  for (std::size_t i = 0; i < averages_.size(); ++i)
    all.push_back({"average/" + parameters_.all()[i].name, averages_[i]});
  if (decay_ != 0) all.push_back({"average_updates", Tensor::from<std::int64_t>({1}, {updates_})});
  return all;
}

void WeightsAverage::restore(const Checkpoint& state) {
  for (std::size_t i = 0; i < averages_.size(); ++i)
    copy_into(state.tensor("average/" + parameters_.all()[i].name), averages_[i]);
  if (decay_ != 0) updates_ = state.tensor("average_updates").values<std::int64_t>()[0];
}

void WeightsAverage::swap() {
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    const Tensor& weight = parameters_.all()[i].value;
    std::span<float> now = weight.detached().mutable_values<float>(), average = averages_[i].mutable_values<float>();
    std::swap_ranges(now.begin(), now.end(), average.begin());
    weight.mark_changed();
  }
}

}  // namespace attune
