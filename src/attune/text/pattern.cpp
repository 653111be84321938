#include "attune/text/pattern.h"

namespace attune {

Regex read_pattern(const JsonView& json) {
  json.only({"String", "Regex"});
  if (json.size() != 1) json.reject("expected {{\"String\": ...}} or {{\"Regex\": ...}}");
  if (json.has("String")) return Regex::literal(json.at("String").string());
  const JsonView pattern = json.at("Regex");
  try {
    return Regex(pattern.string());
  } catch (const Error& error) {
    pattern.reject("{}", error.what());
  }
}

SplitBehavior read_behavior(const JsonView& json) {
  const std::string_view name = json.string();
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  json.reject("is \"{}\": expected one of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous", name);
}

char32_t read_character(const JsonView& json) {
  const std::string_view text = json.string();
  std::size_t end = 0;
  if (text.empty()) json.reject("is empty: expected one character");
  const char32_t point = next_code_point(text, end);
  if (end != text.size()) json.reject("is \"{}\": expected one character", text);
  return point;
}

}  // namespace attune
