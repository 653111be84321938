#pragma once

#include "attune/text/json_view.h"
#include "attune/text/pieces.h"
#include "attune/text/regex.h"

namespace attune {

/// {"String": "..."} or {"Regex": "..."} of a tokenizer file.
Regex read_pattern(const JsonView& json);

/// "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext" or "Contiguous".
SplitBehavior read_behavior(const JsonView& json);

/// Exactly one code point.
char32_t read_character(const JsonView& json);

}  // namespace attune
