#pragma once

#include <cstdint>
#include <span>

#include "attune/evaluate/summed_metric.h"

namespace attune::evaluate {

/// Word error rate, and character error rate, with the numbers of jiwer's defaults: the fewest substitutions, deletions
/// and insertions that turn the prediction into the reference (Levenshtein), over the reference's words or characters;
/// sums over all items. Words are what stands between spaces ("a", U+0020) once runs of white space are one space.
/// Above 1 where the prediction has more than the reference; 0 where neither has any. Figures "wer" ("cer") and
/// "edits", "reference words" ("reference characters"). Throws Error unless each item has exactly one reference.
SummedMetric word_error_rate(std::span<const TextAndReferences> items);
SummedMetric character_error_rate(std::span<const TextAndReferences> items);

std::int64_t edit_distance(std::span<const std::int32_t> a, std::span<const std::int32_t> b);

}  // namespace attune::evaluate
