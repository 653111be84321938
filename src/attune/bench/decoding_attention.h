#pragma once

#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench decode`: the GB a second of cached keys and values that attention reads for one new token of each of
/// some sequences with 8192 tokens, by the cache's format and the query heads that share a key head, beside the rate of
/// reading as much memory; and how far the results are from those of an f32 cache, on normally distributed numbers.
void decoding_attention(const Report& report, const Run& run = {});
std::vector<std::string> decoding_attention_names();  // of its cases

}  // namespace attune::bench
