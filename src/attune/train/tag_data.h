#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/bundle/bundle.h"
#include "attune/data/documents.h"
#include "attune/evaluate/span_scores.h"
#include "attune/train/training_sets.h"

namespace attune {

using Entities = std::vector<evaluate::TypedSpan>;  // of one text, in order, in code points

/// "O", then "B-KIND" and "I-KIND" of each kind in order of name. Throws Error where there is no entity at all.
std::vector<std::string> iob2_labels(std::span<const Entities> texts);

/// What a text's tokens are called, and what that loses of its entities.
struct TokenLabels {
  std::vector<std::int64_t> labels;    // a token, places in the list of names
  std::vector<std::size_t> inexact;    // entities with a border inside a token: all of it counts as theirs
  std::vector<std::size_t> unlearned;  // entities that no token stands for
};

/// IOB2 over the places of tokens, as transformers' token classification example labels all tokens of a word: the first
/// token of an entity is B-, the others I-. White space at the edges of a token counts for nothing. A token that stands
/// for some of two entities belongs to the first. `encoding` has no special tokens. Throws Error where a label is none
/// of `names`.
TokenLabels label_tokens(std::string_view text, const Encoding& encoding, const Entities& entities,
                         const std::vector<std::string>& names);

/// Documents to learn from, or to be measured on.
struct TaggingSource {
  std::span<const Document> documents;
  std::span<const Entities> entities;
  std::string name;  // the file's
};

/// The pieces in which tag() reads the texts, each an example; special tokens are not labelled. An entity that is cut
/// by a piece's end goes on as I- in the next. Warns, with numbers, of entities that tokens do not fit.
NumberedExamples tagging_examples(const TaggingSource& source, const Bundle& bundle);

/// f1, precision and recall of what tag() finds in the texts, as `attune evaluate --metric spans` measures it.
Metrics tagging_figures(const TaggingSource& source, const Bundle& bundle, const Run& run);

}  // namespace attune
