#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attune/tensor/tensor.h"

/// The conformance harness: each operation states its cases in its own test file, and every case is tried the same way.
///
///   CONFORMANCE(rms_norm) {
///     for (auto [rows, width] : odd_sizes())
///       expect_agrees({.run = [](auto in) { return rms_norm(in[0], in[1], 1e-5f); },
///                      .inputs = {random_tensor({rows, width}), random_tensor({width}, 2)},
///                      .row_inputs = {0}});
///   }
///
/// A case is run on the CPU in f32 and on the reference in f64 (the same values), forward and, where `gradient`,
/// backward with a random dL/dy; the reference's gradient is held against central finite differences; 1, 2 and 3
/// threads must give the same bits; and where `row_inputs` are named, each row alone must give the bits that it has in
/// the batch.
namespace attune::conformance {

struct Case {
  std::function<Tensor(std::span<const Tensor>)> run;  // the operation, for inputs of any one float type
  std::vector<Tensor> inputs;        // f32 is converted for the reference; integers are passed as they are
  std::vector<int> row_inputs = {};  // inputs whose dimension 0 is the batch's rows; y's too
  bool gradient = true;
  double tolerance = 2e-6;             // largest difference over the largest value of the reference
  double gradient_tolerance = 1e-5;    // the same for each gradient
  double difference_tolerance = 1e-6;  // finite differences (f64, step 1e-5) against the reference's gradient
  int difference_places = 16;          // of each input; fewer where a reference is slow and its cases are many
};

void expect_agrees(const Case& one);

/// Standard normal values times `scale`, the same for the same seed.
Tensor random_tensor(const Shape& shape, std::uint64_t seed = 1, double scale = 1.0);
/// (rows, width) pairs around the vector widths: 0, 1, 2, odd and prime sizes.
std::vector<std::pair<std::int64_t, std::int64_t>> odd_sizes();
/// True bit for bit.
bool same_bits(const Tensor& a, const Tensor& b);
/// Largest |a - b| over the largest |b| (1 if that is 0); infinity where one is not finite and the other is.
double relative_difference(const Tensor& a, const Tensor& b);

/// What has been shown for an operation, for attune-conformance --list.
struct Shown {
  int cases = 0;
  bool gradient = false, batch_invariant = false;
  bool failed = false;  // a case of it did not agree
};
int run_all(int argc, char** argv);  // main of every test program

struct Registration {
  Registration(const char* operation);
};

}  // namespace attune::conformance

#define CONFORMANCE(operation)                                                                       \
  static const ::attune::conformance::Registration conformance_registration_##operation(#operation); \
  TEST(Conformance, operation)
