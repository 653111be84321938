#include "attune/text/pieces.h"

#include <algorithm>

namespace attune {

void Pieces::split_at(const Piece& piece, const std::vector<Span>& matches, SplitBehavior behavior, bool inverted) {
  const std::uint32_t size = piece.end - piece.begin;
  parts_.clear();
  std::uint32_t done = 0;
  for (const Span& match : matches) {
    if (match.begin != done) parts_.push_back({{done, match.begin}, inverted});
    parts_.push_back({match, !inverted});
    done = match.end;
  }
  if (done != size) parts_.push_back({{done, size}, inverted});

  const auto emit = [&](const Span& range) { add({piece.text, piece.begin + range.begin, piece.begin + range.end}); };
  Span open{};
  bool any = false, previous = false;
  switch (behavior) {
    case SplitBehavior::removed:
      for (const Part& part : parts_)
        if (!part.match) emit(part.range);
      return;
    case SplitBehavior::isolated:
      for (const Part& part : parts_) emit(part.range);
      return;
    case SplitBehavior::contiguous:
    case SplitBehavior::merged_with_previous:
      for (const Part& part : parts_) {
        const bool joins = behavior == SplitBehavior::contiguous ? part.match == previous : part.match && !previous;
        if (joins && any) {
          open.end = part.range.end;
        } else {
          if (any) emit(open);
          open = part.range;
        }
        any = true;
        previous = part.match;
      }
      if (any) emit(open);
      return;
    case SplitBehavior::merged_with_next: {
      const std::size_t first = list_.size();
      for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
        if (part->match && !previous && any) {
          open.begin = part->range.begin;
        } else {
          if (any) emit(open);
          open = part->range;
        }
        any = true;
        previous = part->match;
      }
      if (any) emit(open);
      std::reverse(list_.begin() + static_cast<std::ptrdiff_t>(first), list_.end());
      return;
    }
  }
}

}  // namespace attune
