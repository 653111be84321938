#pragma once

#include "attune/base/json.h"
#include "attune/tensor/tensor.h"

namespace attune::conformance {

/// A tensor in a golden file: {"shape": [2, 3], "values": [...]}, f32.
Tensor golden_tensor(const Json& json);

/// Fails the test, naming the first value, where ours is not of the golden's shape or a value differs by more than
/// `tolerance`.
void expect_near(const Tensor& ours, const Json& golden, double tolerance);

}  // namespace attune::conformance
