#pragma once

#include <cstdint>
#include <optional>

#include "attune/tensor/tensor.h"

namespace attune {

struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  // rows with this label count for nothing
  double label_smoothing = 0;        // in [0, 1]
  Tensor class_weights = {};         // [classes] of the logits' type; undefined: all 1
  /// What the sum is divided by, where several micro-batches share one mean: the sum of their denominators. Without:
  /// this batch's own.
  std::optional<double> denominator = std::nullopt;
};

/// PyTorch's CrossEntropyLoss with reduction "mean", as a scalar of the logits' type:
///   sum over rows of [(1 - s) w[y] (-log p[y]) + s / classes * sum over c of w[c] (-log p[c])] / sum over rows of
///   w[y],
/// p = softmax(logits). logits: [rows, classes], f32 or f64; labels: [rows], i64. The tape keeps the logits and one
/// number a row; the backward pass makes the probabilities again, in the logits' own memory if nobody else holds it.
/// Throws Error where a label is neither a class nor ignore_index, or where every row is ignored and no denominator is
/// given.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {});

/// The sum of class weights of the rows that count: what cross_entropy divides by.
double cross_entropy_denominator(const Tensor& labels, const CrossEntropyOptions& options = {});

}  // namespace attune
