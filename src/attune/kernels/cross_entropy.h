#pragma once

#include <cstdint>
#include <span>

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// Rows of logits, the class that each should be, and how a row counts; see ops/cross_entropy.h.
template <class T>
struct LabelledRows {
  Rows<const T> logits;                  // [rows, classes]
  std::span<const std::int64_t> labels;  // [rows]
  std::span<const T> weights;            // [classes], or empty: all 1
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;
};

}  // namespace attune::kernels
