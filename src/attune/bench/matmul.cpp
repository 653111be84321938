#include "attune/bench/matmul.h"

#include <algorithm>
#include <set>
#include <vector>

#include "attune/base/error.h"
#include "attune/bench/matmul_cases.h"
#include "attune/bench/threads_restored.h"
#include "attune/bench/timing.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/kernels/cpu/matmul.h"

namespace attune::bench {

namespace {

std::vector<float> values(std::int64_t count) {
  std::vector<float> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i * 2654435761u % 2001) * 1e-3f - 1.0f;
  return v;
}

double seconds_of(const MatmulCase& one) {
  using kernels::Matrix;
  std::vector<float> a = values(one.m * one.k), b = values(one.n * one.k), c(static_cast<std::size_t>(one.m * one.n));
  const kernels::Rows<float> product{c.data(), one.m, one.n, one.n};
  if (one.kind == MatmulCase::Weight) {
    const Matrix<float> dy(a.data(), one.k, one.m, one.m, 1), x(b.data(), one.k, one.n, one.n, 1);
    return median_seconds([&] { kernels::matmul(dy.transposed(), x, product); });
  }
  const Matrix<float> x(a.data(), one.m, one.k, one.k, 1);
  const Matrix<float> w = one.kind == MatmulCase::Forward ? Matrix<float>(b.data(), one.k, one.n, 1, one.k)
                                                          : Matrix<float>(b.data(), one.k, one.n, one.n, 1);
  const kernels::PackedMatrix packed(w);
  return median_seconds([&] { kernels::matmul(x, packed, product); });
}

/// The most that the case can give: its multiplications at the rate of plain ones, or its weights at the rate of plain
/// reading.
double limit_of(const MatmulCase& one, double multiply_adds) {
  const double operations = 2.0 * static_cast<double>(one.m * one.n * one.k);
  if (one.m > 16) return multiply_adds;
  const double bytes = 4.0 * static_cast<double>(one.n * one.k);
  const double seconds = std::max(operations / multiply_adds, bytes / kernels::read_rate(one.n * one.k));
  return operations / seconds;
}

}  // namespace

std::vector<std::string> matmul_names() {
  std::vector<std::string> names;
  for (const MatmulCase& one : matmul_cases) names.emplace_back(one.name);
  return names;
}

void matmul(const Report& report, const Run& run) {
  ThreadsRestored restored;
  for (int threads : std::set<int>{1, restored.before}) {
    set_num_threads(threads);
    const double multiply_adds = kernels::multiply_add_rate();
    for (const MatmulCase& one : matmul_cases) {
      if (run.cancelled()) throw Cancelled("bench matmul: stopped");
      if (!report.wants(one.name)) continue;
      const double limit = limit_of(one, multiply_adds);
      const double rate = 2.0 * static_cast<double>(one.m * one.n * one.k) / seconds_of(one);
      report({"matmul", one.name, threads, rate * 1e-9, "GFLOP/s", limit * 1e-9});
    }
  }
}

}  // namespace attune::bench
