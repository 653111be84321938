#include "attune/ops/relative_buckets.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "attune/base/error.h"

namespace attune {

std::int64_t shaw_bucket(std::int64_t distance, std::int64_t clip) {
  check(clip >= 0, "relative positions are clipped at a distance of {}: expected 0 or more", clip);
  return std::clamp(distance, -clip, clip) + clip;
}

// The published codes take the logarithm in f32 and cut or round it up: at a few distances f64 gives another bucket
// than the models were trained with.

std::int64_t t5_bucket(std::int64_t distance, const T5Buckets& sizes) {
  const std::int64_t buckets = sizes.both_ways ? sizes.buckets / 2 : sizes.buckets, exact = buckets / 2;
  check(exact >= 1 && sizes.longest > exact,
        "relative positions: {} buckets up to a distance of {}: expected at least {} buckets, and a distance above {}",
        sizes.buckets, sizes.longest, sizes.both_ways ? 4 : 2, std::max<std::int64_t>(exact, 0));
  const std::int64_t first = sizes.both_ways && distance > 0 ? buckets : 0;
  const std::int64_t far = sizes.both_ways ? std::abs(distance) : std::max<std::int64_t>(-distance, 0);
  if (far < exact) return first + far;
  const float scale = static_cast<float>(std::log(static_cast<double>(sizes.longest) / static_cast<double>(exact)));
  const float ratio = std::log(static_cast<float>(far) / static_cast<float>(exact)) / scale;
  const auto beyond = static_cast<std::int64_t>(ratio * static_cast<float>(buckets - exact));
  return first + std::min(exact + beyond, buckets - 1);
}

std::int64_t deberta_bucket(std::int64_t distance, const DebertaBuckets& sizes) {
  const std::int64_t mid = sizes.buckets / 2;
  check(sizes.span >= 1 && (sizes.buckets <= 0 || (mid >= 1 && sizes.longest - 1 > mid)),
        "relative positions: a span of {} and {} buckets up to a distance of {}: expected a span of at least 1, no "
        "buckets or at least 2, and a distance above half of them",
        sizes.span, sizes.buckets, sizes.longest);
  std::int64_t bucket = -distance;  // query - key
  if (const std::int64_t far = std::abs(distance); sizes.buckets > 0 && far > mid) {
    const auto middle = static_cast<float>(mid);
    const float scale = std::log(static_cast<float>(static_cast<double>(sizes.longest - 1) / static_cast<double>(mid)));
    const float steps = std::ceil(std::log(static_cast<float>(far) / middle) / scale * (middle - 1));
    bucket = (mid + static_cast<std::int64_t>(steps)) * (distance > 0 ? -1 : 1);
  }
  return std::clamp(bucket, -sizes.span, sizes.span - 1) + sizes.span;
}

}  // namespace attune
