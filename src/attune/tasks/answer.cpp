#include "attune/tasks/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/base/error.h"
#include "attune/data/chunks.h"
#include "attune/tasks/text_pieces.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// A question and its text as one sequence, of which [begin, end) are the text's tokens.
struct ReadQuestion {
  Encoding encoding;
  std::int64_t begin = 0, end = 0;
  std::vector<Chunk> pieces;  // of the text's tokens
};

ReadQuestion read(const Tokenizer& tokenizer, const Question& question, LongPolicy policy, std::int64_t longest) {
  ReadQuestion r{.encoding = tokenizer.encode(TextPair{question.question, question.text}), .pieces = {}};
  const auto& of = r.encoding.sequences;
  const auto size = static_cast<std::int64_t>(of.size());
  while (r.begin < size && of[static_cast<std::size_t>(r.begin)] != 1) ++r.begin;
  r.end = r.begin;
  while (r.end < size && of[static_cast<std::size_t>(r.end)] == 1) ++r.end;
  check(r.end > r.begin, "the text has no token: there is nothing to find an answer in");
  const std::int64_t tokens = r.end - r.begin, room = longest - (size - tokens);
  if (longest == 0 || tokens <= room) {
    r.pieces = {{0, tokens}};
    return r;
  }
  check(policy.kind != LongPolicy::Kind::refuse,
        "question and text have {} tokens and the model takes {}: shorten them, or let the text be read in pieces: "
        "--long "
        "stride",
        size, longest);
  check(room >= 2, "the question has {} tokens and the model takes {}: that leaves no room for the text", size - tokens,
        longest);
  r.pieces = stride_chunks(tokens, room, policy.kind == LongPolicy::Kind::stride ? room / 4 : 0);
  return r;
}

TextPiece piece_of(const ReadQuestion& r, std::size_t text, std::size_t number) {
  TextPiece piece{.text = text, .number = number};
  const Chunk range = r.pieces[number];
  const auto size = static_cast<std::int64_t>(r.encoding.size());
  for (std::int64_t t = 0; t < size; ++t) {
    if (t >= r.begin && t < r.end && (t < r.begin + range.begin || t >= r.begin + range.end)) continue;
    piece.ids.push_back(r.encoding.ids[static_cast<std::size_t>(t)]);
    piece.type_ids.push_back(r.encoding.type_ids[static_cast<std::size_t>(t)]);
  }
  return piece;
}

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
  const std::int64_t longest = policy.longest > 0 ? policy.longest : model.facts().longest.value_or(0);

  std::vector<ReadQuestion> all;
  std::vector<TextPiece> pieces;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    all.push_back(
        within("text " + std::to_string(i + 1), [&] { return read(bundle.text(), questions[i], policy, longest); }));
    for (std::size_t p = 0; p < all[i].pieces.size(); ++p) pieces.push_back(piece_of(all[i], i, p));
  }

  std::vector<Found> best(questions.size()), least(questions.size());
  std::vector<bool> seen(questions.size());
  std::vector<Answer> answers(questions.size());
  for_each_batch(pieces, {.batch_tokens = options.batch_tokens, .doing = "answering"}, run,
                 [&](std::span<const std::int64_t> numbers, const Batch& batch) {
                   const std::vector<float> logits =
                       model.head().logits(model.forward(batch), batch).to_vector<float>();
                   for (std::size_t s = 0; s < numbers.size(); ++s) {
                     const TextPiece& piece = pieces[static_cast<std::size_t>(numbers[s])];
                     const auto from = static_cast<std::size_t>(2 * batch.offsets.begin(static_cast<std::int64_t>(s)));
                     const Found found = best_of(std::span(logits).subspan(from, 2 * piece.ids.size()),
                                                 all[piece.text].begin, all[piece.text].pieces[piece.number], options);
                     const bool first = !seen[piece.text];
                     seen[piece.text] = true;
                     if (first || found.logit > best[piece.text].logit) best[piece.text] = found;
                     if (first || found.none_logit < least[piece.text].none_logit) least[piece.text] = found;
                     answers[piece.text].tokens += static_cast<std::int64_t>(piece.ids.size());
                   }
                 });

  for (std::size_t i = 0; i < questions.size(); ++i) {
    Answer& to = answers[i];
    to.chunks = static_cast<std::int64_t>(all[i].pieces.size());
    to.none_score = least[i].none_score;
    if (options.may_have_none && least[i].none_logit > best[i].logit) {
      to.score = to.none_score;
      continue;
    }
    to.score = best[i].score;
    const auto place = [&](std::int64_t token) {
      return all[i].encoding.offsets[static_cast<std::size_t>(all[i].begin + token)];
    };
    to.begin = place(best[i].first).begin;
    to.end = std::max<std::int64_t>(place(best[i].last).end, to.begin);
    to.text = code_point_range(questions[i].text, static_cast<std::size_t>(to.begin), static_cast<std::size_t>(to.end));
  }
  return answers;
}

}  // namespace attune
