#pragma once

#include <vector>

#include "attune/tensor/tensor.h"

namespace attune {

/// What a model gave, as f32, row by row. Throws Error where a value is infinite or not a number: damaged weights do
/// that, and nothing that is made of such values means anything.
std::vector<float> output_values(const Tensor& outputs);

}  // namespace attune
