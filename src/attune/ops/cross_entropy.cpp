#include "attune/ops/cross_entropy.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/cross_entropy.h"
#include "attune/kernels/reference/cross_entropy.h"
#include "attune/ops/labelled_rows.h"

namespace attune {

namespace {

/// Throws Error unless every label is a class or ignored.
void check_labels(std::string_view operation, const Tensor& labels, std::int64_t classes, std::int64_t ignore_index) {
  std::span<const std::int64_t> values = labels.values<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i)
    check((values[i] >= 0 && values[i] < classes) || values[i] == ignore_index,
          "{}: label {} of row {} is neither one of {} classes nor {}, which marks ignored rows", operation, values[i],
          i, classes, ignore_index);
}

}  // namespace

double cross_entropy_denominator(const Tensor& labels, const CrossEntropyOptions& options) {
  Tensor weights = options.class_weights.defined() ? options.class_weights.to(DType::F64) : Tensor();
  if (weights.defined()) check_labels("cross_entropy", labels, weights.numel(), options.ignore_index);
  double total = 0;
  for (std::int64_t label : labels.values<std::int64_t>())
    if (label != options.ignore_index)
      total += weights.defined() ? weights.values<double>()[static_cast<std::size_t>(label)] : 1.0;
  return total;
}

double checked_denominator(std::string_view operation, const Shape& logits, DType type, const Tensor& labels,
                           const CrossEntropyOptions& options) {
  check(logits.rank() == 2 && labels.shape() == Shape{logits[0]}, "{}: labels {} do not fit logits {}", operation,
        labels.shape(), logits);
  check(options.label_smoothing >= 0 && options.label_smoothing <= 1, "{}: label smoothing must lie in [0, 1], got {}",
        operation, options.label_smoothing);
  check(!options.class_weights.defined() ||
            (options.class_weights.shape() == Shape{logits[1]} && options.class_weights.dtype() == type),
        "{}: class weights {} {} do not fit logits {} {}", operation, name_of(options.class_weights.dtype()),
        options.class_weights.shape(), name_of(type), logits);
  check_labels(operation, labels, logits[1], options.ignore_index);
  const double denominator = options.denominator ? *options.denominator : cross_entropy_denominator(labels, options);
  check(denominator > 0, "{}: no row counts: all {} labels are {}", operation, labels.numel(), options.ignore_index);
  return denominator;
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  const double denominator = checked_denominator("cross_entropy", logits.shape(), logits.dtype(), labels, options);
  Tensor log_sums = Tensor::empty({logits.dim(0)}, logits.dtype());
  double total = dispatch("cross_entropy", logits.dtype(), [&]<class T>() {
    return kernels::cross_entropy(labelled_rows<T>(logits, labels.values<std::int64_t>(), options),
                                  log_sums.mutable_values<T>());
  });
  return record(
      "cross_entropy", Tensor::scalar(total / denominator, logits.dtype()), {logits},
      [logits = logits.detached(), labels, options, log_sums, denominator](const Tensor& dy, Gradients& gradients) {
        Tensor dlogits = reusable_or_like(logits);
        dispatch("cross_entropy", logits.dtype(), [&]<class T>() {
          kernels::cross_entropy_backward(labelled_rows<T>(logits, labels.values<std::int64_t>(), options),
                                          log_sums.values<T>(), dy.item() / denominator, mutable_rows_of<T>(dlogits));
        });
        gradients.add(0, dlogits);
      });
}

}  // namespace attune
