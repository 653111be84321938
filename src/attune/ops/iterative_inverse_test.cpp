#include "attune/ops/iterative_inverse.h"

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/batched_matmul.h"
#include "attune/ops/softmax.h"

namespace attune {
namespace {

using namespace conformance;

CONFORMANCE(iterative_inverse) {
  for (std::int64_t m : {1, 2, 7, 16})
    expect_agrees({.run = [](auto in) { return iterative_inverse(softmax(in[0]), 6); },
                   .inputs = {random_tensor({3, m, m}, 5, 1.5)},
                   .row_inputs = {0},
                   .tolerance = 2e-5,
                   .gradient_tolerance = 1e-3,
                   .difference_tolerance = 1e-4});
  expect_agrees({.run = [](auto in) { return iterative_inverse(softmax(in[0]), 0); },  // the first guess
                 .inputs = {random_tensor({2, 5, 5})},
                 .row_inputs = {0}});
  for (int steps : {0, 6})  // matrices depend on each other: no row_inputs
    expect_agrees({.run = [steps](auto in) { return iterative_inverse(softmax(in[0]), steps, InverseGuess::together); },
                   .inputs = {random_tensor({3, 5, 5}, 5, 1.5)},
                   .tolerance = 2e-5,
                   .gradient_tolerance = 1e-3,
                   .difference_tolerance = 1e-4});
  expect_agrees({.run = [](auto in) { return iterative_inverse(in[0], 6); }, .inputs = {random_tensor({0, 4, 4})}});
}

// The four conditions of Penrose (1955), in f64 and with steps enough: A Z A = A, Z A Z = Z, A Z and Z A symmetric.
TEST(IterativeInverse, GoesToTheMoorePenroseInverse) {
  Tensor a = softmax(random_tensor({2, 9, 9}, 1, 2).to(DType::F64));
  // A singular one, too: two rows alike.
  double* values = a.mutable_data<double>();
  for (int j = 0; j < 9; ++j) values[9 + j] = values[j];
  Tensor z = iterative_inverse(a, 40), az = batched_matmul(a, z), za = batched_matmul(z, a);
  EXPECT_LT(relative_difference(batched_matmul(az, a), a), 1e-9);
  EXPECT_LT(relative_difference(batched_matmul(za, z), z), 1e-9);
  EXPECT_LT(relative_difference(az.transposed(1, 2), az), 1e-9);
  EXPECT_LT(relative_difference(za.transposed(1, 2), za), 1e-9);
}

TEST(IterativeInverse, RefusesMatricesThatAreNotSquare) {
  EXPECT_THROW(iterative_inverse(random_tensor({2, 3, 4}), 6), Error);
}

}  // namespace
}  // namespace attune
