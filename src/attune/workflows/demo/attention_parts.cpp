#include "attune/workflows/demo/attention_parts.h"

#include <cmath>

namespace attune {

Tensor demo_values(const Shape& shape, std::uint64_t seed, std::string_view name) {
  RandomStream random(RandomKey{.seed = seed}.at(name));
  Tensor values = Tensor::empty(shape);
  for (float& v : values.mutable_values<float>()) v = static_cast<float>(random.normal());
  return values;
}

Tensor demo_self_attention(const Tensor& x, const AttentionMask& mask) {
  return attention(x, x, x, AttentionSequences::of(Offsets::single(x.dim(0))), {.mask = mask});
}

double largest_difference(const Tensor& a, const Tensor& b) {
  std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>();
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  return largest;
}

}  // namespace attune
