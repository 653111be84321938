#include "attune/conformance/conformance.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>

#include "attune/autograd/tape.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"

namespace attune::conformance {

namespace {

/// Named operations in the order of their names, and what the cases run so far have shown of them.
std::map<std::string, Shown>& shown() {
  static std::map<std::string, Shown> all;
  return all;
}

std::string current_operation() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  return info ? info->name() : "";
}

struct Result {
  Tensor y;
  std::vector<Tensor> gradients;  // one an input; undefined for integers and where none is wanted
};

Result evaluate(const Case& one, const std::vector<Tensor>& inputs, bool gradient) {
  std::vector<Tensor> leaves = inputs;
  if (!gradient) {
    NoGradient none;
    return {one.run(leaves), {}};
  }
  for (Tensor& x : leaves)
    if (is_float(x.dtype())) x = require_gradient(x);
  Result result;
  Tensor y = one.run(leaves);
  result.y = y.detached();
  backward(y, random_tensor(y.shape(), 77).to(y.dtype()));
  for (const Tensor& x : leaves) result.gradients.push_back(is_float(x.dtype()) ? gradient_of(x) : Tensor());
  return result;
}

std::vector<Tensor> in_f64(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> converted;
  for (const Tensor& x : inputs) converted.push_back(is_float(x.dtype()) ? x.to(DType::F64) : x);
  return converted;
}

Tensor or_zeros(const Tensor& gradient, const Tensor& like) {
  return gradient.defined() ? gradient : Tensor::zeros(like.shape(), like.dtype());
}

double weighted_sum(const Tensor& y) {
  std::vector<double> values = y.to_vector<double>();
  std::vector<float> weights = random_tensor(y.shape(), 77).to_vector<float>();
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * static_cast<double>(weights[i]);
  return sum;
}

/// Central differences at some places of each float input.
void expect_finite_differences(const Case& one, const std::vector<Tensor>& inputs, const Result& reference) {
  constexpr double step = 1e-5;
  NoGradient none;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_float(inputs[i].dtype()) || inputs[i].numel() == 0) continue;
    std::vector<double> gradient = or_zeros(reference.gradients[i], inputs[i]).to_vector<double>();
    double largest = 1;
    for (double g : gradient) largest = std::max(largest, std::abs(g));
    RandomStream random(RandomKey{.seed = 5, .site = i});
    for (int trial = 0; trial < one.difference_places; ++trial) {
      auto place = static_cast<std::size_t>(random.below(inputs[i].numel()));
      std::vector<Tensor> moved = inputs;
      double sums[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<double> values = inputs[i].to_vector<double>();
        values[place] += side == 0 ? -step : step;
        moved[i] = Tensor::from<double>(inputs[i].shape(), values);
        sums[side] = weighted_sum(one.run(moved));
      }
      double difference = (sums[1] - sums[0]) / (2 * step);
      EXPECT_LE(std::abs(difference - gradient[place]) / largest, one.difference_tolerance)
          << "input " << i << " " << inputs[i].shape().text() << " at " << place << ": finite difference " << difference
          << ", gradient " << gradient[place];
    }
  }
}

void expect_same_result(const Result& a, const Result& b, const std::string& what) {
  EXPECT_TRUE(same_bits(a.y, b.y)) << what << ": other bits in the result";
  for (std::size_t i = 0; i < a.gradients.size(); ++i)
    EXPECT_TRUE(!a.gradients[i].defined() || same_bits(a.gradients[i], b.gradients[i]))
        << what << ": other bits in the gradient of input " << i;
}

void expect_batch_invariance(const Case& one, const Result& whole) {
  std::int64_t count = one.inputs[static_cast<std::size_t>(one.row_inputs[0])].dim(0);
  for (std::int64_t row : {std::int64_t{0}, count / 2, count - 1}) {
    if (row < 0 || row >= count) continue;
    std::vector<Tensor> alone = one.inputs;
    for (int i : one.row_inputs)
      alone[static_cast<std::size_t>(i)] = alone[static_cast<std::size_t>(i)].rows(row, row + 1).clone();
    EXPECT_TRUE(same_bits(evaluate(one, alone, false).y, whole.y.rows(row, row + 1)))
        << "row " << row << " of " << count << " has other bits alone than in the batch";
  }
}

}  // namespace

void expect_agrees(const Case& one) {
  int threads = num_threads();
  set_num_threads(1);
  Result cpu = evaluate(one, one.inputs, one.gradient);
  std::vector<Tensor> exact = in_f64(one.inputs);
  Result reference = evaluate(one, exact, one.gradient);

  std::string sizes;
  for (const Tensor& x : one.inputs) sizes += x.shape().text() + " ";
  SCOPED_TRACE("inputs " + sizes);
  EXPECT_EQ(cpu.y.shape().text(), reference.y.shape().text());
  EXPECT_LE(relative_difference(cpu.y, reference.y), one.tolerance) << "result";
  for (std::size_t i = 0; i < cpu.gradients.size(); ++i) {
    if (!is_float(one.inputs[i].dtype())) continue;
    EXPECT_LE(
        relative_difference(or_zeros(cpu.gradients[i], one.inputs[i]), or_zeros(reference.gradients[i], exact[i])),
        one.gradient_tolerance)
        << "gradient of input " << i;
  }
  if (one.gradient) expect_finite_differences(one, exact, reference);
  for (int n : {2, 3}) {
    set_num_threads(n);
    expect_same_result(cpu, evaluate(one, one.inputs, one.gradient), std::to_string(n) + " threads");
  }
  set_num_threads(threads);
  if (!one.row_inputs.empty()) expect_batch_invariance(one, cpu);

  Shown& now = shown()[current_operation()];
  now.cases += 1;
  now.failed = now.failed || testing::Test::HasFailure();
  now.gradient = now.gradient || one.gradient;
  now.batch_invariant = now.batch_invariant || !one.row_inputs.empty();
}

Tensor random_tensor(const Shape& shape, std::uint64_t seed, double scale) {
  RandomStream random(RandomKey{.seed = seed, .site = 991});
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (float& v : values) v = static_cast<float>(scale * random.normal());
  return Tensor::from<float>(shape, values);
}

std::vector<std::pair<std::int64_t, std::int64_t>> odd_sizes() {
  return {{0, 5}, {1, 1}, {1, 17}, {2, 8}, {3, 16}, {5, 31}, {7, 33}, {13, 64}, {67, 129}};
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  Tensor x = a.contiguous(), y = b.contiguous();
  auto compare = [&]<class T>() {
    return x.numel() == 0 ||
           std::memcmp(x.data<T>(), y.data<T>(), static_cast<std::size_t>(x.numel()) * sizeof(T)) == 0;
  };
  return a.dtype() == DType::F64 ? compare.operator()<double>() : compare.operator()<float>();
}

double relative_difference(const Tensor& a, const Tensor& b) {
  std::vector<double> x = a.to(DType::F64).to_vector<double>(), y = b.to(DType::F64).to_vector<double>();
  if (x.size() != y.size()) return std::numeric_limits<double>::infinity();
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(x[i] - y[i]));
  }
  for (double v : y)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return difference / (largest > 0 ? largest : 1);
}

Registration::Registration(const char* operation) { shown()[operation]; }

int run_all(int argc, char** argv) {
  bool list = argc > 1 && std::strcmp(argv[1], "--list") == 0;
  testing::InitGoogleTest(&argc, argv);
  if (list) {
    // The matrix says what the cases show when they are run, not what someone wrote down.
    delete testing::UnitTest::GetInstance()->listeners().Release(
        testing::UnitTest::GetInstance()->listeners().default_result_printer());
    testing::GTEST_FLAG(filter) = "Conformance.*";
  }
  int failed = RUN_ALL_TESTS();
  if (list) {
    std::printf("%-28s %6s  %-9s %-7s %-8s %-16s %s\n", "operation", "cases", "reference", "cpu f32", "gradient",
                "same bits alone", "same bits, 1-3 threads");
    for (const auto& [name, facts] : shown()) {
      const char* agrees = facts.cases == 0 ? "-" : facts.failed ? "FAILED" : "yes";
      std::printf("%-28s %6d  %-9s %-7s %-8s %-16s %s\n", name.c_str(), facts.cases, agrees, agrees,
                  facts.gradient ? agrees : "none", facts.batch_invariant ? agrees : "-", agrees);
    }
    std::printf(failed ? "some cases FAILED: run attune-conformance without --list\n" : "all cases passed\n");
  }
  return failed;
}

}  // namespace attune::conformance

int main(int argc, char** argv) { return attune::conformance::run_all(argc, argv); }
