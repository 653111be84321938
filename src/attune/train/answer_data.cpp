#include "attune/train/answer_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/base/log.h"
#include "attune/evaluate/answer_scores.h"
#include "attune/tasks/answer.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// Whether tokens and answer have the same borders: the tokens' text without white space at its edges.
bool exact(const QuestionPieces& pieces, const Chunk& piece, const std::vector<std::int64_t>& labels,
           const Document& document, const KnownAnswer& answer) {
  const auto place = [&](std::int64_t label) { return pieces.place(piece.begin + label - pieces.begin()); };
  const std::int64_t begin = place(labels[0]).begin, end = place(labels[1]).end;
  const auto white = [&](std::int64_t from, std::int64_t to) {
    const std::string_view part =
        code_point_range(document.text, static_cast<std::size_t>(from), static_cast<std::size_t>(to));
    return part.find_first_not_of(" \t\r\n") == std::string_view::npos;
  };
  return white(std::min(begin, answer.begin), answer.begin) && white(answer.end, std::max(end, answer.end));
}

}  // namespace

std::string_view question_in(const Document& document, const std::string& field) {
  const auto found = document.fields.find(field);
  check(found != document.fields.end(), "there is no {}: each line is a question, the text and its answers",
        json_quoted(field));
  check(found->second.find_first_not_of(" \t\r\n\f\v") != std::string::npos, "{} is empty", json_quoted(field));
  return found->second;
}

std::vector<std::int64_t> answer_labels(const QuestionPieces& pieces, std::size_t number, const KnownAnswer* answer) {
  const Chunk piece = pieces.pieces()[number];
  const bool whole =
      answer && pieces.place(piece.begin).begin <= answer->begin && pieces.place(piece.end - 1).end >= answer->end;
  if (!whole) return {0, 0};
  std::int64_t first = piece.begin, last = piece.end - 1;
  while (first + 1 < piece.end && pieces.place(first + 1).begin <= answer->begin) ++first;
  while (last > piece.begin && pieces.place(last - 1).end >= answer->end) --last;
  if (first > last) std::swap(first, last);  // several tokens of one character, all in its place
  return {pieces.begin() + first - piece.begin, pieces.begin() + last - piece.begin};
}

NumberedExamples answering_examples(const AnsweringSource& source, const Bundle& bundle) {
  LongPolicy policy = bundle.contract.long_policy;
  if (policy.longest == 0) policy.longest = bundle.model->facts().longest.value_or(0);
  NumberedExamples made;
  std::int64_t inexact = 0, nowhere = 0;
  std::string first;
  for (std::size_t i = 0; i < source.documents.size(); ++i) {
    const Document& document = source.documents[i];
    const std::string line = "line " + std::to_string(document.line);
    within(source.name + ", " + line, [&] {
      const QuestionPieces pieces(bundle, {question_in(document, source.question_field), document.text}, policy);
      const KnownAnswer* answer = source.answers[i].empty() ? nullptr : &source.answers[i].front();
      bool found = false;
      for (std::size_t p = 0; p < pieces.pieces().size(); ++p) {
        TextPiece read = pieces.piece(p);
        std::vector<std::int64_t> labels = answer_labels(pieces, p, answer);
        if (labels[1] > 0 && !std::exchange(found, true) &&
            !exact(pieces, pieces.pieces()[p], labels, document, *answer)) {
          ++inexact;
          if (first.empty()) first = line + ", " + json_quoted(code_point_range(answer->text, 0, 40));
        }
        made.examples.push_back({.chunks = {std::move(read.ids)},
                                 .type_ids = std::move(read.type_ids),
                                 .decoder_ids = {},
                                 .labels = std::move(labels)});
        made.origins.push_back(static_cast<std::int64_t>(i));
      }
      nowhere += answer && !found;
    });
  }
  if (inexact > 0)
    log_warning(fmt::format("{}: {} answers begin or end inside a token, all of which is learned as theirs: {}{}",
                            source.name, inexact, first, inexact > 1 ? ", ..." : ""));
  if (nowhere > 0)
    log_warning(
        fmt::format("{}: {} answers lie whole in none of the pieces in which their text is read: it is learned "
                    "that those do not say; make long.longest larger, or its policy stride",
                    source.name, nowhere));
  return made;
}

Metrics answering_figures(const AnsweringSource& source, const Bundle& bundle, bool may_have_none, const Run& run) {
  std::vector<Question> questions;
  for (const Document& document : source.documents)
    questions.push_back({question_in(document, source.question_field), document.text});
  const std::vector<Answer> said =
      answer(bundle, questions, {.may_have_none = may_have_none}, Run{.progress = {}, .cancel = run.cancel});
  std::vector<evaluate::AnswerAndTruth> pairs;
  for (std::size_t i = 0; i < said.size(); ++i) {
    pairs.push_back({said[i].text, {}, {}});
    for (const KnownAnswer& one : source.answers[i]) pairs.back().truth.push_back(one.text);
  }
  const std::vector<double> figures =
      (may_have_none ? evaluate::squad2_scores(pairs) : evaluate::squad_scores(pairs)).on_all();
  return {{"exact", figures[0]}, {"f1", figures[1]}};
}

}  // namespace attune
