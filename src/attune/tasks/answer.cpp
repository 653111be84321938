#include "attune/tasks/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/base/error.h"
#include "attune/base/stop.h"
#include "attune/models/outputs.h"
#include "attune/tasks/question_pieces.h"
#include "attune/tasks/text_pieces.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// The best stretch of one piece.
struct Found {
  double logit = -std::numeric_limits<double>::infinity(), score = 0, none_logit = 0, none_score = 0;
  std::int64_t first = 0, last = 0;  // tokens of the text
};

/// logits: [tokens of the piece, 2]; the text's tokens stand at [begin, begin + range.length()).
Found best_of(std::span<const float> logits, std::int64_t begin, const Chunk& range, const AnswerOptions& options) {
  const auto start = [&](std::int64_t t) { return static_cast<double>(logits[static_cast<std::size_t>(2 * t)]); };
  const auto end = [&](std::int64_t t) { return static_cast<double>(logits[static_cast<std::size_t>(2 * t + 1)]); };
  Found found;
  found.none_logit = start(0) + end(0);
  const auto each = [&](auto&& take) {
    for (std::int64_t a = 0; a < range.length(); ++a)
      for (std::int64_t b = a; b < std::min(range.length(), a + options.most_tokens); ++b)
        take(a, b, start(begin + a) + end(begin + b));
  };
  each([&](std::int64_t a, std::int64_t b, double logit) {
    if (logit > found.logit) found.logit = logit, found.first = range.begin + a, found.last = range.begin + b;
  });
  const double top = std::max(found.logit, options.may_have_none ? found.none_logit : found.logit);
  double sum = options.may_have_none ? std::exp(found.none_logit - top) : 0;
  each([&](std::int64_t, std::int64_t, double logit) { sum += std::exp(logit - top); });
  found.score = std::exp(found.logit - top) / sum;
  found.none_score = options.may_have_none ? std::exp(found.none_logit - top) / sum : 0;
  return found;
}

}  // namespace

std::vector<Answer> answer(const Bundle& bundle, std::span<const Question> questions, const AnswerOptions& options,
                           const Run& run) {
  const Model& model = *bundle.model;
  check(model.facts().head == HeadKind::answer, "{} marks no answers: answer needs a \"...ForQuestionAnswering\" model",
        bundle.path.string());
  check(options.most_tokens >= 1, "an answer of at most {} tokens: give at least 1", options.most_tokens);
  LongPolicy policy = bundle.contract.long_policy;
  if (options.long_policy) policy.kind = *options.long_policy;
  if (policy.longest == 0) policy.longest = model.facts().longest.value_or(0);

  const StopWithin stop(run);
  std::vector<QuestionPieces> all;
  std::vector<TextPiece> pieces;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    all.push_back(
        within("text " + std::to_string(i + 1), [&] { return QuestionPieces(bundle, questions[i], policy); }));
    for (std::size_t p = 0; p < all[i].pieces().size(); ++p) {
      pieces.push_back(all[i].piece(p));
      pieces.back().text = i;
    }
  }

  std::vector<Found> best(questions.size()), least(questions.size());
  std::vector<bool> seen(questions.size());
  std::vector<Answer> answers(questions.size());
  for_each_batch(pieces, {.batch_tokens = options.batch_tokens, .doing = "answering"}, run,
                 [&](std::span<const std::int64_t> numbers, const Batch& batch) {
                   const std::vector<float> logits = output_values(model.head().logits(model.forward(batch), batch));
                   for (std::size_t s = 0; s < numbers.size(); ++s) {
                     const TextPiece& piece = pieces[static_cast<std::size_t>(numbers[s])];
                     const auto from = static_cast<std::size_t>(2 * batch.offsets.begin(static_cast<std::int64_t>(s)));
                     const Found found =
                         best_of(std::span(logits).subspan(from, 2 * piece.ids.size()), all[piece.text].begin(),
                                 all[piece.text].pieces()[piece.number], options);
                     const bool first = !seen[piece.text];
                     seen[piece.text] = true;
                     if (first || found.logit > best[piece.text].logit) best[piece.text] = found;
                     if (first || found.none_logit < least[piece.text].none_logit) least[piece.text] = found;
                     answers[piece.text].tokens += static_cast<std::int64_t>(piece.ids.size());
                   }
                 });

  for (std::size_t i = 0; i < questions.size(); ++i) {
    Answer& to = answers[i];
    to.chunks = static_cast<std::int64_t>(all[i].pieces().size());
    to.none_score = least[i].none_score;
    if (options.may_have_none && least[i].none_logit > best[i].logit) {
      to.score = to.none_score;
      continue;
    }
    to.score = best[i].score;
    to.begin = all[i].place(best[i].first).begin;
    to.end = std::max<std::int64_t>(all[i].place(best[i].last).end, to.begin);
    to.text = code_point_range(questions[i].text, static_cast<std::size_t>(to.begin), static_cast<std::size_t>(to.end));
  }
  return answers;
}

}  // namespace attune
