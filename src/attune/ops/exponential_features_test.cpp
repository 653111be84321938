#include "attune/ops/exponential_features.h"

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"

namespace attune {
namespace {

using namespace conformance;

CONFORMANCE(exponential_features) {
  for (auto [rows, width] : odd_sizes())
    for (std::int64_t features : {1, 7, 40})
      expect_agrees({.run = [](auto in) { return exponential_features(in[0], in[1]); },
                     .inputs = {random_tensor({rows, features}), random_tensor({rows, width}, 2, 0.2)},
                     .row_inputs = {0, 1}});
}

TEST(ExponentialFeatures, RowsThatDoNotFitAreAnError) {
  EXPECT_THROW(exponential_features(random_tensor({3, 4}), random_tensor({2, 4})), Error);
}

}  // namespace
}  // namespace attune
