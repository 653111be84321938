#include "attune/models/outputs.h"

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"

namespace attune {

std::vector<float> output_values(const Tensor& outputs) {
  std::vector<float> values = outputs.to(DType::F32).to_vector<float>();
  check(std::ranges::all_of(values, [](float x) { return std::isfinite(x); }),
        "the model gives values that are not numbers: its weights are damaged (attune verify says where)");
  return values;
}

}  // namespace attune
