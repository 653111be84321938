#include "attune/ops/cross_entropy.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/cross_entropy.h"
#include "attune/kernels/reference/cross_entropy.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

/// Throws Error unless every label is a class or ignored.
void check_labels(const Tensor& labels, std::int64_t classes, std::int64_t ignore_index) {
  std::span<const std::int64_t> values = labels.values<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i)
    check((values[i] >= 0 && values[i] < classes) || values[i] == ignore_index,
          "cross_entropy: label {} of row {} is neither one of {} classes nor {}, which marks ignored rows", values[i],
          i, classes, ignore_index);
}

template <class T>
kernels::LabelledRows<T> labelled(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  return {.logits = rows_of<T>(logits),
          .labels = labels.values<std::int64_t>(),
          .weights = options.class_weights.defined() ? options.class_weights.values<T>() : std::span<const T>(),
          .ignore_index = options.ignore_index,
          .label_smoothing = options.label_smoothing};
}

}  // namespace

double cross_entropy_denominator(const Tensor& labels, const CrossEntropyOptions& options) {
  Tensor weights = options.class_weights.defined() ? options.class_weights.to(DType::F64) : Tensor();
  if (weights.defined()) check_labels(labels, weights.numel(), options.ignore_index);
  double total = 0;
  for (std::int64_t label : labels.values<std::int64_t>())
    if (label != options.ignore_index)
      total += weights.defined() ? weights.values<double>()[static_cast<std::size_t>(label)] : 1.0;
  return total;
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  check(logits.rank() == 2 && labels.shape() == Shape{logits.dim(0)}, "cross_entropy: labels {} do not fit logits {}",
        labels.shape(), logits.shape());
  check(options.label_smoothing >= 0 && options.label_smoothing <= 1,
        "cross_entropy: label smoothing must lie in [0, 1], got {}", options.label_smoothing);
  check(!options.class_weights.defined() ||
            (options.class_weights.shape() == Shape{logits.dim(1)} && options.class_weights.dtype() == logits.dtype()),
        "cross_entropy: class weights {} {} do not fit logits {} {}", name_of(options.class_weights.dtype()),
        options.class_weights.shape(), name_of(logits.dtype()), logits.shape());
  check_labels(labels, logits.dim(1), options.ignore_index);
  const double denominator = options.denominator ? *options.denominator : cross_entropy_denominator(labels, options);
  check(denominator > 0, "cross_entropy: no row counts: all {} labels are {}", labels.numel(), options.ignore_index);

  Tensor log_sums = Tensor::empty({logits.dim(0)}, logits.dtype());
  double total = dispatch("cross_entropy", logits.dtype(), [&]<class T>() {
    return kernels::cross_entropy(labelled<T>(logits, labels, options), log_sums.mutable_values<T>());
  });
  return record(
      "cross_entropy", Tensor::scalar(total / denominator, logits.dtype()), {logits},
      [logits = logits.detached(), labels, options, log_sums, denominator](const Tensor& dy, Gradients& gradients) {
        Tensor dlogits = reusable_or_like(logits);
        dispatch("cross_entropy", logits.dtype(), [&]<class T>() {
          kernels::cross_entropy_backward(labelled<T>(logits, labels, options), log_sums.values<T>(),
                                          dy.item() / denominator, mutable_rows_of<T>(dlogits));
        });
        gradients.add(0, dlogits);
      });
}

}  // namespace attune
