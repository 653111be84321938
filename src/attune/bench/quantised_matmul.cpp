#include "attune/bench/quantised_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "attune/base/error.h"
#include "attune/bench/threads_restored.h"
#include "attune/bench/timing.h"
#include "attune/kernels/cpu/int8_matmul.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/kernels/cpu/quantised_matmul.h"
#include "attune/kernels/random_blocks.h"

namespace attune::bench {

namespace {

struct Case {
  std::optional<QuantisedFormat> format;  // none: int8 copy
  std::int64_t m, n, k;

  std::string name() const { return fmt::format("{}x{}x{} {}", m, n, k, format ? name_of(*format) : "int8"); }
  double operations() const { return 2.0 * static_cast<double>(m * n * k); }
};

/// Reading a prompt, writing a token, and the output layer of a small model; a larger one; an encoder.
std::vector<Case> all_cases() {
  using F = QuantisedFormat;
  std::vector<Case> cases;
  for (F format : {F::Q4_0, F::Q4_1, F::Q5_0, F::Q8_0, F::Q4_K, F::Q6_K, F::IQ4_XS})
    for (std::int64_t m : {1, 4, 512}) cases.push_back({format, m, 1536, 768});
  cases.push_back({F::Q8_0, 1, 49152, 576});
  cases.push_back({F::Q4_1, 512, 576, 1536});
  for (F format : {F::Q4_K, F::Q6_K})
    for (std::int64_t m : {1, 128}) cases.push_back({format, m, 4096, 4096});
  for (std::int64_t m : {1, 64, 1024}) cases.push_back({std::nullopt, m, 1536, 384});
  return cases;
}

std::vector<float> values(std::int64_t count) {
  std::vector<float> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i * 2654435761u % 2001) * 1e-3f - 1.0f;
  return v;
}

struct Measured {
  double seconds;
  std::int64_t bytes;  // of the weights
};

Measured measure(const Case& one) {
  const std::vector<float> x = values(one.m * one.k);
  std::vector<float> y(static_cast<std::size_t>(one.m * one.n));
  const kernels::Rows<const float> rows{x.data(), one.m, one.k, one.k};
  const kernels::Rows<float> product{y.data(), one.m, one.n, one.n};
  if (one.format) {
    const QuantisedTensor w = kernels::random_blocks({one.n, one.k}, *one.format);
    return {median_seconds([&] { kernels::matmul(rows, w, product); }), w.byte_count()};
  }
  const std::vector<float> weights = values(one.n * one.k);
  const kernels::Int8Matrix w(kernels::Matrix<float>(weights.data(), one.n, one.k, one.k, 1));
  return {median_seconds([&] { kernels::matmul(rows, w, product); }), w.bytes()};
}

}  // namespace

std::vector<std::string> quantised_matmul_names() {
  std::vector<std::string> names;
  for (const Case& one : all_cases()) names.push_back(one.name());
  return names;
}

void quantised_matmul(const Report& report, const Run& run) {
  ThreadsRestored restored;
  for (int threads : std::set<int>{1, restored.before}) {
    set_num_threads(threads);
    const double products = kernels::byte_multiply_add_rate();
    for (const Case& one : all_cases()) {
      if (run.cancelled()) throw Cancelled("bench quantised: stopped");
      if (!report.wants(one.name())) continue;
      const Measured measured = measure(one);
      const double reading = static_cast<double>(measured.bytes) / kernels::read_rate(measured.bytes / 4);
      const double limit = one.operations() / std::max(one.operations() / products, reading);
      report({"quantised", one.name(), threads, one.operations() / measured.seconds * 1e-9, "GOP/s", limit * 1e-9});
    }
  }
}

}  // namespace attune::bench
