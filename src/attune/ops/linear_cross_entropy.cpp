#include "attune/ops/linear_cross_entropy.h"

#include <algorithm>
#include <utility>

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/arithmetic.h"
#include "attune/kernels/cpu/cross_entropy.h"
#include "attune/kernels/reference/arithmetic.h"
#include "attune/kernels/reference/cross_entropy.h"
#include "attune/ops/labelled_rows.h"

namespace attune {

namespace {

/// Logits at once: 24 MB. Fewer, and the weight's gradient is read and written too often; the number of rows is fixed
/// by the width alone.
constexpr std::int64_t chunk_logits = 6 << 20, fewest_rows = 64;

/// The gradients for dL = 1; those that nobody wants are not defined.
struct Fused {
  Tensor dx, dw, db;
};

struct Operands {
  const Tensor& x;
  const LinearWeight& weight;
  const Tensor& bias;
  std::span<const std::int64_t> labels;
  const CrossEntropyOptions& options;
  double denominator;
};

/// Rows [begin, end): adds their losses' sum to `total` and, where they are wanted, their gradients. `logits` is
/// overwritten.
void add_chunk(const Operands& in, std::int64_t begin, std::int64_t end, const Tensor& logits, Fused& gradients,
               double& total) {
  const Tensor x = in.x.rows(begin, end), log_sums = Tensor::empty({end - begin}, x.dtype());
  LinearWork::forward(x, in.weight, in.bias, logits);
  dispatch("linear_cross_entropy", x.dtype(), [&]<class T>() {
    const auto rows = labelled_rows<T>(
        logits, in.labels.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)), in.options);
    total += kernels::cross_entropy(rows, log_sums.mutable_values<T>());
    if (gradients.dx.defined() || gradients.dw.defined() || gradients.db.defined())
      kernels::cross_entropy_backward(rows, log_sums.values<T>(), 1 / in.denominator, mutable_rows_of<T>(logits));
  });
  if (gradients.dx.defined()) LinearWork::input_gradient(logits, in.weight, gradients.dx.rows(begin, end), false);
  if (gradients.dw.defined()) LinearWork::weight_gradient(logits, x, in.weight.in_by_out(), gradients.dw, begin > 0);
  if (gradients.db.defined()) LinearWork::bias_gradient(logits, gradients.db);
}

/// Hands over `gradient` times dL.
void give(Gradients& gradients, int i, const Tensor& gradient, double dl) {
  if (!gradients.wanted(i)) return;
  if (dl != 1)
    dispatch("linear_cross_entropy", gradient.dtype(), [&]<class T>() {
      kernels::scale(rows_of<T>(gradient), static_cast<T>(dl), mutable_rows_of<T>(gradient));
    });
  gradients.add(i, gradient);
}

}  // namespace

Tensor linear_cross_entropy(const Tensor& x, const LinearWeight& weight, const Tensor& bias, const Tensor& labels,
                            const CrossEntropyOptions& options) {
  const std::int64_t classes = weight.out_features();
  check(x.rank() == 2, "linear_cross_entropy: x is a matrix, not {}", x.shape());
  check_linear("linear_cross_entropy", x, weight, bias);
  const double denominator =
      checked_denominator("linear_cross_entropy", {x.dim(0), classes}, x.dtype(), labels, options);

  Fused fused;
  if (needs_gradient(x)) fused.dx = Tensor::like(x);
  if (needs_gradient(weight.tensor())) fused.dw = Tensor::zeros(weight.tensor().shape(), x.dtype());
  if (bias.defined() && needs_gradient(bias)) fused.db = Tensor::zeros(bias.shape(), x.dtype());

  const std::int64_t rows = x.dim(0),
                     at_once = std::max(fewest_rows, chunk_logits / std::max<std::int64_t>(1, classes));
  const Operands in{x.detached(), weight, bias, labels.values<std::int64_t>(), options, denominator};
  const Tensor logits = Tensor::empty({std::min(rows, at_once), classes}, x.dtype());
  double total = 0;
  for (std::int64_t begin = 0; begin < rows; begin += at_once) {
    const std::int64_t end = std::min(rows, begin + at_once);
    add_chunk(in, begin, end, logits.rows(0, end - begin), fused, total);
  }
  return record("linear_cross_entropy", Tensor::scalar(total / denominator, x.dtype()), {x, weight.tensor(), bias},
                [fused](const Tensor& dy, Gradients& gradients) mutable {
                  const double dl = dy.item();
                  give(gradients, 0, std::exchange(fused.dx, {}), dl);
                  give(gradients, 1, std::exchange(fused.dw, {}), dl);
                  give(gradients, 2, std::exchange(fused.db, {}), dl);
                });
}

}  // namespace attune
