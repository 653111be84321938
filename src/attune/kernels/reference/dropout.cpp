#include "attune/kernels/reference/dropout.h"

#include "attune/base/random.h"

namespace attune::kernels {

namespace {

/// What value c of row t is multiplied by.
double factor(const DropoutRule& rule, std::int64_t t, std::int64_t c) {
  const auto row = static_cast<std::size_t>(t);
  const auto numbers = philox(rule.key, static_cast<std::uint64_t>(rule.examples[row]),
                              static_cast<std::uint32_t>(rule.positions[row]), static_cast<std::uint32_t>(c / 4));
  return numbers[static_cast<std::size_t>(c % 4)] < static_cast<std::uint32_t>(rule.rate * 0x1p32)
             ? 0
             : 1 / (1 - rule.rate);
}

}  // namespace

void dropout(Rows<const double> x, const DropoutRule& rule, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) y[t][c] = factor(rule, t, c) * x[t][c];
}

void dropout_add(Rows<const double> x, Rows<const double> residual, const DropoutRule& rule, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) y[t][c] = residual[t][c] + factor(rule, t, c) * x[t][c];
}

}  // namespace attune::kernels
