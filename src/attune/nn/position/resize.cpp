#include "attune/nn/position/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attune/base/error.h"
#include "attune/ops/linear.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// Keys' kernel at distance x (Keys 1981, equation 4).
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

double kernel(const Resizing& how, double x) {
  if (how.filter == Resizing::Filter::linear) return std::max(0.0, 1 - std::abs(x));
  return cubic(x, how.antialias ? -0.5 : -0.75);
}

/// The weights of the values around `centre` (in units of the values, the first at 0), added to row[from].
void add_weights(const Resizing& how, double centre, double stretch, std::vector<double>& row) {
  const auto last = static_cast<std::int64_t>(row.size()) - 1;
  const double reach = (how.filter == Resizing::Filter::linear ? 1 : 2) * stretch;
  const auto begin = static_cast<std::int64_t>(std::floor(centre - reach)) + 1;
  double total = 0;
  for (std::int64_t i = begin; static_cast<double>(i) < centre + reach; ++i) {
    if (how.antialias && (i < 0 || i > last)) continue;  // PyTorch leaves them out there, and repeats the end else
    const double weight = kernel(how, (static_cast<double>(i) - centre) / stretch);
    row[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, last))] += weight;
    total += weight;
  }
  for (double& weight : row) weight /= total;
}

}  // namespace

Tensor resizing_matrix(std::int64_t from, std::int64_t to, const Resizing& how, DType type) {
  check(from > 0 && to > 0, "positions: no table of {} places can be made of one of {}", to, from);
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const double stretch = how.antialias ? std::max(1.0, step) : 1;
  std::vector<double> all;
  for (std::int64_t i = 0; i < to; ++i) {
    std::vector<double> row(static_cast<std::size_t>(from));
    add_weights(how, (static_cast<double>(i) + 0.5) * step - 0.5, stretch, row);
    all.insert(all.end(), row.begin(), row.end());
  }
  return Tensor::from<double>({to, from}, all).to(type);
}

Tensor resize_rows(const Tensor& table, std::int64_t length, const Resizing& how) {
  check(table.rank() == 2, "positions: a table of positions is [rows, width], not {}", table.shape());
  return linear(resizing_matrix(table.dim(0), length, how, table.dtype()), LinearWeight(table, true));
}

Tensor resize_grid(const Tensor& table, const GridSize& from, const GridSize& to, const Resizing& how) {
  check(table.rank() == 2 && table.dim(0) == from.places(), "positions: the table {} is not of a grid of {} x {}",
        table.shape(), from.height, from.width);
  if (from == to) return table;
  const std::int64_t width = table.dim(1);
  // Along the height all columns at once; then along the width, row by row.
  const Tensor tall = resize_rows(reshape(table, {from.height, from.width * width}), to.height, how);
  std::vector<Tensor> rows;
  for (std::int64_t y = 0; y < to.height; ++y)
    rows.push_back(resize_rows(reshape(row_range(tall, y, y + 1), {from.width, width}), to.width, how));
  return concatenate_rows(rows);
}

}  // namespace attune
