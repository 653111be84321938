#include "attune/ops/view.h"

#include <algorithm>

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/arithmetic.h"
#include "attune/kernels/cpu/gather.h"
#include "attune/kernels/reference/arithmetic.h"
#include "attune/kernels/reference/gather.h"
#include "attune/ops/dispatch.h"
#include "attune/ops/indices.h"

namespace attune {

namespace {

void add_to(std::string_view operation, const Tensor& part, const Tensor& from) {
  dispatch(operation, part.dtype(),
           [&]<class T>() { kernels::add(rows_of<T>(part), rows_of<T>(from), mutable_rows_of<T>(part)); });
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  return record("reshape", x.as_shape(shape), {x}, [before = x.shape()](const Tensor& dy, Gradients& gradients) {
    gradients.add(0, dy.contiguous().as_shape(before));
  });
}

Tensor columns(const Tensor& x, std::int64_t begin, std::int64_t end) {
  check(x.rank() > 0 && 0 <= begin && begin <= end && end <= x.width(), "columns: [{}, {}) does not lie within x {}",
        begin, end, x.shape());
  return record("columns", x.slice(-1, begin, end), {x}, [begin, end](const Tensor& dy, Gradients& gradients) {
    add_to("columns", gradients.accumulator(0).slice(-1, begin, end), dy);
  });
}

Tensor row_range(const Tensor& x, std::int64_t begin, std::int64_t end) {
  check(x.rank() > 0 && 0 <= begin && begin <= end && end <= x.dim(0),
        "row_range: [{}, {}) does not lie within the rows of x {}", begin, end, x.shape());
  return record("row_range", x.rows(begin, end), {x}, [begin, end](const Tensor& dy, Gradients& gradients) {
    add_to("row_range", gradients.accumulator(0).rows(begin, end), dy);
  });
}

Tensor transposed(const Tensor& x, int a, int b) {
  return record("transposed", x.transposed(a, b), {x},
                [a, b](const Tensor& dy, Gradients& gradients) { gradients.add(0, dy.transposed(a, b).contiguous()); });
}

Tensor contiguous(const Tensor& x) {
  if (x.is_contiguous()) return x;
  return record("contiguous", x.contiguous(), {x},
                [](const Tensor& dy, Gradients& gradients) { gradients.add(0, dy); });
}

Tensor select_rows(const Tensor& x, const Tensor& indices) {
  check(x.rank() > 0, "select_rows: a scalar has no rows");
  Tensor rows = checked_indices("select_rows", indices, x);
  std::vector<std::int64_t> sizes(x.shape().sizes().begin(), x.shape().sizes().end());
  sizes[0] = rows.numel();
  Tensor y = Tensor::empty(Shape(std::span<const std::int64_t>(sizes)), x.dtype());
  dispatch("select_rows", x.dtype(), [&]<class T>() {
    kernels::gather_rows(outer_rows_of<T>(x), rows.values<std::int64_t>(), mutable_outer_rows_of<T>(y));
  });
  return record("select_rows", y, {x}, [rows](const Tensor& dy, Gradients& gradients) {
    Tensor dx = gradients.accumulator(0);
    dispatch("select_rows", dy.dtype(), [&]<class T>() {
      kernels::scatter_add_rows(outer_rows_of<T>(dy), rows.values<std::int64_t>(), mutable_outer_rows_of<T>(dx));
    });
  });
}

Tensor concatenate_rows(const std::vector<Tensor>& parts) {
  check(!parts.empty(), "concatenate_rows: no parts");
  std::vector<std::int64_t> starts{0};
  for (const Tensor& part : parts) {
    check(part.rank() > 0 && part.rank() == parts[0].rank() && part.dtype() == parts[0].dtype() &&
              std::ranges::equal(part.shape().sizes().subspan(1), parts[0].shape().sizes().subspan(1)),
          "concatenate_rows: {} {} does not fit below {} {}", name_of(part.dtype()), part.shape(),
          name_of(parts[0].dtype()), parts[0].shape());
    starts.push_back(starts.back() + part.dim(0));
  }
  std::vector<std::int64_t> sizes(parts[0].shape().sizes().begin(), parts[0].shape().sizes().end());
  sizes[0] = starts.back();
  Tensor y = Tensor::empty(Shape(std::span<const std::int64_t>(sizes)), parts[0].dtype());
  for (std::size_t i = 0; i < parts.size(); ++i) copy_into(parts[i], y.rows(starts[i], starts[i + 1]));
  return record("concatenate_rows", y, parts, [starts](const Tensor& dy, Gradients& gradients) {
    for (std::size_t i = 0; i + 1 < starts.size(); ++i)
      gradients.add(static_cast<int>(i), dy.rows(starts[i], starts[i + 1]));
  });
}

}  // namespace attune
