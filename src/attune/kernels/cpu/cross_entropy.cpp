#include "attune/kernels/cpu/cross_entropy.h"

#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/cross_entropy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/math-inl.h"
#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

double sum_of_weights(const LabelledRows<float>& rows) {
  return rows.weights.empty() ? static_cast<double>(rows.logits.width)
                              : sum_block(rows.logits.width, rows.weights.data(), [](auto v) HWY_ATTR { return v; });
}

/// Row t's weight as a labelled row, w[y].
HWY_INLINE float weight_of_label(const LabelledRows<float>& rows, std::int64_t t) {
  return rows.weights.empty() ? 1.0f : rows.weights[static_cast<std::size_t>(rows.labels[static_cast<std::size_t>(t)])];
}

double row_loss(const LabelledRows<float>& rows, double all_weights, std::int64_t t, float log_sum) {
  const float* x = rows.logits[t];
  const double smoothing = rows.label_smoothing, lse = static_cast<double>(log_sum);
  double loss = (1 - smoothing) * static_cast<double>(weight_of_label(rows, t)) *
                (lse - static_cast<double>(x[rows.labels[static_cast<std::size_t>(t)]]));
  if (smoothing > 0) {
    // Sum over c of w[c] (lse - x[c]).
    double weighted = 0;
    if (rows.weights.empty()) {
      weighted = sum_block(rows.logits.width, x, [](auto v) HWY_ATTR { return v; });
    } else {
      weighted = static_cast<double>(sum_of(
          rows.logits.width, [](auto v, auto w) HWY_ATTR { return hn::Mul(v, w); }, x, rows.weights.data()));
    }
    loss += smoothing / static_cast<double>(rows.logits.width) * (all_weights * lse - weighted);
  }
  return loss;
}

double cross_entropy(const LabelledRows<float>& rows, float* log_sums) {
  const std::int64_t width = rows.logits.width, count = rows.logits.count;
  const double all_weights = rows.label_smoothing > 0 ? sum_of_weights(rows) : 0;
  Workspace<double> losses(count);
  parallel(count, std::max<std::int64_t>(1, elementwise_grain / std::max<std::int64_t>(width, 1)),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t t = begin; t < end; ++t) {
               losses.data()[t] = 0;
               log_sums[t] = 0;
               if (rows.labels[static_cast<std::size_t>(t)] == rows.ignore_index) continue;
               const float most = largest_of(width, rows.logits[t]);
               const auto shift = hn::Set(F32(), most);
               const float sum = sum_of(
                   width, [&](auto v) HWY_ATTR { return math::exp_nonpositive(F32(), hn::Sub(v, shift)); },
                   rows.logits[t]);
               log_sums[t] = most + std::log(sum);
               losses.data()[t] = row_loss(rows, all_weights, t, log_sums[t]);
             }
           });
  double total = 0;
  for (std::int64_t t = 0; t < count; ++t) total += losses.data()[t];
  return total;
}

/// Row t of dlogits = factor (whole p - target): see the reference.
HWY_INLINE void gradient_of_row(const LabelledRows<float>& rows, std::int64_t t, float log_sum, float factor,
                                float whole, float* out) {
  const F32 d;
  const std::int64_t width = rows.logits.width;
  const auto shift = hn::Set(d, log_sum), scale = hn::Set(d, factor * whole);
  const float spread = factor * static_cast<float>(rows.label_smoothing / static_cast<double>(width));
  const auto each = hn::Set(d, spread);
  const auto term = [&](auto v) HWY_ATTR { return hn::Mul(scale, math::exp_nonpositive(d, hn::Sub(v, shift))); };
  if (spread == 0) {
    map(width, out, term, rows.logits[t]);
  } else if (rows.weights.empty()) {
    map(
        width, out, [&](auto v) HWY_ATTR { return hn::Sub(term(v), each); }, rows.logits[t]);
  } else {
    map(
        width, out, [&](auto v, auto w) HWY_ATTR { return hn::NegMulAdd(each, w, term(v)); }, rows.logits[t],
        rows.weights.data());
  }
  out[rows.labels[static_cast<std::size_t>(t)]] -=
      factor * static_cast<float>(1 - rows.label_smoothing) * weight_of_label(rows, t);
}

void cross_entropy_backward(const LabelledRows<float>& rows, const float* log_sums, float factor, Rows<float> dlogits) {
  const std::int64_t width = rows.logits.width;
  const double spread =
      rows.label_smoothing > 0 ? rows.label_smoothing / static_cast<double>(width) * sum_of_weights(rows) : 0;
  parallel(dlogits.count, std::max<std::int64_t>(1, elementwise_grain / std::max<std::int64_t>(width, 1)),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t t = begin; t < end; ++t) {
               if (rows.labels[static_cast<std::size_t>(t)] == rows.ignore_index) {
                 std::memset(dlogits[t], 0, static_cast<std::size_t>(width) * sizeof(float));
                 continue;
               }
               const double whole = (1 - rows.label_smoothing) * static_cast<double>(weight_of_label(rows, t)) + spread;
               gradient_of_row(rows, t, log_sums[t], factor, static_cast<float>(whole), dlogits[t]);
             }
           });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(cross_entropy);
HWY_EXPORT(cross_entropy_backward);

double cross_entropy(const LabelledRows<float>& rows, std::span<float> log_sums) {
  return HWY_DYNAMIC_DISPATCH(cross_entropy)(rows, log_sums.data());
}
void cross_entropy_backward(const LabelledRows<float>& rows, std::span<const float> log_sums, double factor,
                            Rows<float> dlogits) {
  HWY_DYNAMIC_DISPATCH(cross_entropy_backward)(rows, log_sums.data(), static_cast<float>(factor), dlogits);
}

}  // namespace attune::kernels
#endif
