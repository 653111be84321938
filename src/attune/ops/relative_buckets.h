#pragma once

#include <cstdint>

namespace attune {

// Classes of distances (key - query position), numbered as published models number them.

/// clip(distance, -clip, clip) + clip, of 2 clip + 1 (Shaw et al. 2018, section 3.2).
std::int64_t shaw_bucket(std::int64_t distance, std::int64_t clip);

/// T5's (Raffel et al. 2020, section 2.1; the published code): half of `buckets` for exact small distances, half
/// logarithmic up to `longest`; with `both_ways` the upper half of the numbers is for keys after the query, else those
/// share bucket 0.
struct T5Buckets {
  std::int64_t buckets = 32, longest = 128;
  bool both_ways = true;
};
std::int64_t t5_bucket(std::int64_t distance, const T5Buckets& sizes);

/// DeBERTa's (He et al. 2021, equation 3; v2's logarithmic buckets): query - key, logarithmic beyond buckets / 2 where
/// `buckets` is above 0, clipped to [-span, span) and shifted by span. It falls as the distance grows.
struct DebertaBuckets {
  std::int64_t span = 256, buckets = 256, longest = 512;
};
std::int64_t deberta_bucket(std::int64_t distance, const DebertaBuckets& sizes);

}  // namespace attune
