#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attune/evaluate/summed_metric.h"

namespace attune::evaluate {

/// A span of a text that has a type: tokens, or code points, from `begin` to before `end`.
struct TypedSpan {
  std::string type;
  std::int64_t begin = 0, end = 0;
  auto operator<=>(const TypedSpan&) const = default;
};

/// How tags become spans. `lenient`: as conlleval and seqeval's default do: a span begins at B, and at an I that goes
/// on no span of its type. `strict`: IOB2 by the book: a span is B and the I of its type behind it, other I are
/// nothing.
enum class TagReading { lenient, strict };

/// Spans of a sequence of tags: "O", "B-PER", "I-PER"; lenient also "E-" and "S-". Throws Error, with the place, on any
/// other.
std::vector<TypedSpan> spans_of_tags(std::span<const std::string> tags, TagReading reading = TagReading::lenient);

/// What a system found in a text, and what is there.
struct FoundSpans {
  std::vector<TypedSpan> found, wanted;
};

/// Precision, recall and F1 (0 to 1) of spans that are right in type, begin and end, over all texts, with the numbers
/// of seqeval: figures "micro f1", "micro precision", "micro recall", then "macro ..." (means over the types that
/// occur) and "weighted ..." (by how many there are), then "TYPE f1", "TYPE precision", "TYPE recall", "TYPE support"
/// of each type in the order of the names. What has no denominator is 0. Equal spans of a text count once. Throws Error
/// without a text.
SummedMetric span_scores(std::span<const FoundSpans> texts);

}  // namespace attune::evaluate
