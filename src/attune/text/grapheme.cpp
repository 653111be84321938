#include "attune/text/grapheme.h"

#include <unicode/uchar.h>

#include "attune/text/utf8.h"

namespace attune {

namespace {

int break_class(char32_t point) {
  return u_getIntPropertyValue(static_cast<UChar32>(point), UCHAR_GRAPHEME_CLUSTER_BREAK);
}

bool is_control(int kind) { return kind == U_GCB_CONTROL || kind == U_GCB_CR || kind == U_GCB_LF; }

/// GB6 to GB8: a Hangul syllable goes on.
bool joins_syllable(int left, int right) {
  if (left == U_GCB_L) return right == U_GCB_L || right == U_GCB_V || right == U_GCB_LV || right == U_GCB_LVT;
  if (left == U_GCB_LV || left == U_GCB_V) return right == U_GCB_V || right == U_GCB_T;
  return (left == U_GCB_LVT || left == U_GCB_T) && right == U_GCB_T;
}

bool is_pictograph(char32_t point) {
  return u_hasBinaryProperty(static_cast<UChar32>(point), UCHAR_EXTENDED_PICTOGRAPHIC);
}

}  // namespace

std::size_t end_of_cluster(std::string_view text, std::size_t begin) {
  const auto plain = [](char byte) { return static_cast<signed char>(byte) >= ' '; };  // ASCII but controls
  if (begin + 1 == text.size() || (plain(text[begin]) && plain(text[begin + 1]))) return begin + 1;
  std::size_t end = begin;
  const char32_t first = next_code_point(text, end);
  int left = break_class(first);
  bool pictograph = is_pictograph(first), joined = false;  // a pictograph and extenders; the joiner behind them
  bool odd_indicators = left == U_GCB_REGIONAL_INDICATOR;
  while (end < text.size()) {
    std::size_t next = end;
    const char32_t point = next_code_point(text, next);
    const int right = break_class(point);
    bool goes_on;
    if (left == U_GCB_CR && right == U_GCB_LF) {
      goes_on = true;  // GB3
    } else if (is_control(left) || is_control(right)) {
      goes_on = false;  // GB4, GB5
    } else {
      goes_on = joins_syllable(left, right) || right == U_GCB_EXTEND || right == U_GCB_ZWJ ||  // GB9
                right == U_GCB_SPACING_MARK || left == U_GCB_PREPEND ||                        // GB9a, GB9b
                (joined && is_pictograph(point)) ||                                            // GB11
                (odd_indicators && right == U_GCB_REGIONAL_INDICATOR);                         // GB12, GB13
    }
    if (!goes_on) break;
    joined = pictograph && right == U_GCB_ZWJ;
    pictograph = is_pictograph(point) || (pictograph && (right == U_GCB_EXTEND));
    odd_indicators = right == U_GCB_REGIONAL_INDICATOR && !(odd_indicators && left == U_GCB_REGIONAL_INDICATOR);
    left = right;
    end = next;
  }
  return end;
}

}  // namespace attune
