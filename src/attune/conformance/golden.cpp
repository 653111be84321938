#include "attune/conformance/golden.h"

#include <gtest/gtest.h>

#include "attune/base/json_values.h"

namespace attune::conformance {

Tensor golden_tensor(const Json& json) {
  const auto values = json["values"].get<std::vector<float>>();
  return Tensor::from<float>(Shape(json["shape"].get<std::vector<std::int64_t>>()), values);
}

void expect_near(const Tensor& ours, const Json& golden, double tolerance) {
  const Tensor expected = golden_tensor(golden);
  ASSERT_EQ(ours.shape().text(), expected.shape().text());
  const std::vector<float> a = ours.to_vector<float>(), b = expected.to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << "value " << i;
}

}  // namespace attune::conformance
