#pragma once

#include "attune/text/aligned_text.h"
#include "attune/text/unicode.h"

namespace attune {

/// Brings the text into a normal form (UAX #15, tables of Unicode 9) and keeps the alignment: a composed character
/// stands for all that it was made of, parts of a decomposed one have its origin, reordered marks take origins in the
/// order of the text.
void apply_normal_form(AlignedText& text, NormalForm form);

}  // namespace attune
