#pragma once

#include <span>
#include <string>
#include <vector>

#include "attune/bundle/bundle.h"
#include "attune/tasks/question_pieces.h"
#include "attune/train/annotations.h"
#include "attune/train/training_sets.h"

namespace attune {

using Answers = std::vector<KnownAnswer>;  // to one question; empty: the text does not say

/// Documents to learn from, or to be measured on: each a text and a question in its fields.
struct AnsweringSource {
  std::span<const Document> documents;
  std::span<const Answers> answers;
  std::string question_field, name;  // name: the file's
};

/// The question of a document. Throws Error where there is none.
std::string_view question_in(const Document& document, const std::string& field);

/// [start, end] of an answer in a piece, as tokens of the piece, as transformers' question answering example has it:
/// the last token that begins at the answer's beginning or before, the first that ends at its end or behind; [0, 0],
/// the place of no answer, where the piece does not hold all of it. (The example's loop runs on into the tokens behind
/// a text whose last token is the answer's first; this stays within the text.) `answer` null: there is none.
std::vector<std::int64_t> answer_labels(const QuestionPieces& pieces, std::size_t number, const KnownAnswer* answer);

/// The pieces in which answer() reads texts and questions, each an example, labelled by the first of the answers.
/// Warns, with numbers, of answers with a border inside a token.
NumberedExamples answering_examples(const AnsweringSource& source, const Bundle& bundle);

/// exact and f1 (0 to 100) of what answer() says, as `attune evaluate --metric squad` measures it, with `may_have_none`
/// as squad-v2.
Metrics answering_figures(const AnsweringSource& source, const Bundle& bundle, bool may_have_none, const Run& run);

}  // namespace attune
