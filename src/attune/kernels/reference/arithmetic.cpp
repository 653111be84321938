#include "attune/kernels/reference/arithmetic.h"

#include <algorithm>
#include <cmath>

namespace attune::kernels {

void add_into(std::span<const double> from, std::span<double> into) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] += from[i];
}

void add(Rows<const double> a, Rows<const double> b, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) y[t][c] = a[t][c] + b[t][c];
}

void multiply(Rows<const double> a, Rows<const double> b, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) y[t][c] = a[t][c] * b[t][c];
}

void scale(Rows<const double> x, double factor, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) y[t][c] = factor * x[t][c];
}

void clamp(Rows<const double> x, double most, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) y[t][c] = std::min(std::max(x[t][c], -most), most);
}

void clamp_backward(Rows<const double> x, Rows<const double> dy, double most, Rows<double> dx) {
  for (std::int64_t t = 0; t < dx.count; ++t)
    for (std::int64_t c = 0; c < dx.width; ++c) dx[t][c] = std::abs(x[t][c]) <= most ? dy[t][c] : 0;
}

void add_row(Rows<const double> x, std::span<const double> row, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) y[t][c] = x[t][c] + row[static_cast<std::size_t>(c)];
}

void add_column_sums(Rows<const double> x, std::span<double> into) {
  for (std::int64_t t = 0; t < x.count; ++t)
    for (std::int64_t c = 0; c < x.width; ++c) into[static_cast<std::size_t>(c)] += x[t][c];
}

double sum(Rows<const double> x) {
  double total = 0;
  for (std::int64_t t = 0; t < x.count; ++t)
    for (std::int64_t c = 0; c < x.width; ++c) total += x[t][c];
  return total;
}

}  // namespace attune::kernels
