#include "attune/tasks/tag.h"

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"
#include "attune/base/stop.h"
#include "attune/models/outputs.h"
#include "attune/tasks/text_encoder.h"
#include "attune/tasks/text_pieces.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// A text with its tokens, and what the model says of each: softmax rows.
struct ReadText {
  Encoding encoding;  // without special tokens
  std::vector<Chunk> pieces;
  std::vector<float> scores;          // [tokens, labels]
  std::vector<std::int64_t> context;  // [tokens]: of the scores kept, the tokens on the shorter side
};

std::u32string points_of(std::string_view text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) points += next_code_point(text, at);
  return points;
}

void softmax(std::span<const float> logits, std::span<float> to) {
  const float top = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (std::size_t c = 0; c < logits.size(); ++c) sum += to[c] = std::exp(logits[c] - top);
  for (float& value : to) value /= sum;
}

/// As transformers decides whether a token goes on with a word.
bool continues(const Tokenizer& tokenizer, const Encoding& encoding, std::size_t t, const std::u32string& text) {
  if (tokenizer.unknown_token() == encoding.ids[t]) return false;
  const TextRange place = encoding.offsets[t];
  if (tokenizer.marks_continuations())
    return code_points(encoding.tokens[t]) != static_cast<std::size_t>(place.end - place.begin);
  if (place.begin == 0) return false;
  return text.substr(static_cast<std::size_t>(place.begin) - 1, 2).find(U' ') == std::u32string::npos;
}

}  // namespace

std::vector<TaggedText> tag(const Bundle& bundle, std::span<const std::string_view> texts, const TagOptions& options,
                            const Run& run) {
  const Model& model = *bundle.model;
  check(model.facts().head == HeadKind::tag, "{} is no token classifier: tag needs a \"...ForTokenClassification\"",
        bundle.path.string());
  const std::vector<std::string> labels = labels_of(*bundle.config, (bundle.path / "config.json").string());
  LongPolicy policy = bundle.contract.long_policy;
  if (options.long_policy) policy.kind = *options.long_policy;
  const TextEncoder encoder(bundle.text(), policy, model.facts().longest.value_or(0));

  const StopWithin stop(run);
  std::vector<ReadText> read(texts.size());
  std::vector<TextPiece> pieces;
  for (std::size_t i = 0; i < texts.size(); ++i)
    within("text " + std::to_string(i + 1), [&] {
      read[i].encoding = encoder.tokenizer().encode(texts[i], {.add_special_tokens = false, .tokens = true});
      read[i].pieces = encoder.pieces(texts[i], read[i].encoding);
      read[i].scores.resize(read[i].encoding.size() * labels.size());
      read[i].context.assign(read[i].encoding.size(), -1);
      for (std::size_t p = 0; p < read[i].pieces.size(); ++p)
        pieces.push_back({i, p, encoder.ids_of(read[i].encoding, read[i].pieces[p]), {}});
    });

  std::vector<TaggedText> results(texts.size());
  for_each_batch(pieces, {.batch_tokens = options.batch_tokens, .doing = "tagging"}, run,
                 [&](std::span<const std::int64_t> numbers, const Batch& batch) {
                   const Tensor logits = model.head().logits(model.forward(batch), batch);  // [tokens, labels]
                   check(logits.dim(1) == static_cast<std::int64_t>(labels.size()),
                         "the model has {} labels, and its config names {}", logits.dim(1), labels.size());
                   const std::vector<float> values = output_values(logits);
                   for (std::size_t s = 0; s < numbers.size(); ++s) {
                     const TextPiece& piece = pieces[static_cast<std::size_t>(numbers[s])];
                     ReadText& text = read[piece.text];
                     const Chunk range = text.pieces[piece.number];
                     results[piece.text].tokens += static_cast<std::int64_t>(piece.ids.size());
                     for (std::int64_t t = 0; t < range.length(); ++t) {
                       const auto token = static_cast<std::size_t>(range.begin + t);
                       const std::int64_t around = std::min(t, range.length() - 1 - t);
                       if (around <= text.context[token]) continue;
                       text.context[token] = around;
                       const auto row = static_cast<std::size_t>(batch.offsets.begin(static_cast<std::int64_t>(s)) +
                                                                 encoder.tokens_before() + t);
                       softmax(std::span(values).subspan(row * labels.size(), labels.size()),
                               std::span(text.scores).subspan(token * labels.size(), labels.size()));
                     }
                   }
                 });

  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::u32string points = points_of(texts[i]);
    std::vector<TokenScores> tokens;
    for (std::size_t t = 0; t < read[i].encoding.size(); ++t) {
      const TextRange place = read[i].encoding.offsets[t];
      tokens.push_back({place.begin, place.end, continues(encoder.tokenizer(), read[i].encoding, t, points),
                        std::span(read[i].scores).subspan(t * labels.size(), labels.size())});
    }
    results[i].entities = find_entities(tokens, labels, options.grouping);
    results[i].chunks = static_cast<std::int64_t>(read[i].pieces.size());
  }
  return results;
}

}  // namespace attune
