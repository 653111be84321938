#pragma once

#include <string_view>

#include "attune/kernels/cross_entropy.h"
#include "attune/ops/cross_entropy.h"
#include "attune/ops/dispatch.h"

/// What cross_entropy and linear_cross_entropy share.
namespace attune {

/// Checks labels and options for logits of this shape and type, and returns what the sum of losses is divided by.
double checked_denominator(std::string_view operation, const Shape& logits, DType type, const Tensor& labels,
                           const CrossEntropyOptions& options);

/// For the kernels. labels: as many as logits has rows.
template <class T>
kernels::LabelledRows<T> labelled_rows(const Tensor& logits, std::span<const std::int64_t> labels,
                                       const CrossEntropyOptions& options) {
  return {.logits = rows_of<T>(logits),
          .labels = labels,
          .weights = options.class_weights.defined() ? options.class_weights.values<T>() : std::span<const T>(),
          .ignore_index = options.ignore_index,
          .label_smoothing = options.label_smoothing};
}

}  // namespace attune
