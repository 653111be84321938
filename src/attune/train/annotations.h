#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attune/data/documents.h"
#include "attune/evaluate/span_scores.h"

namespace attune {

/// What people marked in a text, read from the JSON of one of a document's fields. Places are code points. The
/// functions throw Error that names the field and what is wrong in it, not the line.

/// [{"start": 0, "end": 12, "label": "PER"}]: entities in the order of the text. Each is some of the text and overlaps
/// no other; a "text" that is given, too, is what stands there.
std::vector<evaluate::TypedSpan> marked_entities(const Document& document, const std::string& field);

struct KnownAnswer {
  std::string text;
  std::int64_t begin = 0, end = 0;
};
/// [{"text": "London", "start": 17}], "answer_start" being another name for "start", or {"text": [...], "answer_start":
/// [...]}; empty where the text does not say. Each stands where it says.
std::vector<KnownAnswer> known_answers(const Document& document, const std::string& field);

}  // namespace attune
