#include "attune/tasks/embed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"
#include "attune/base/stop.h"
#include "attune/models/outputs.h"
#include "attune/tasks/text_encoder.h"
#include "attune/tasks/text_pieces.h"
#include "attune/text/unicode.h"

namespace attune {

namespace {

std::string prompt_of(const SentenceEmbedding& embedding, const EmbedOptions& options) {
  check(!options.prompt || !options.prompt_name, "a prompt is given by its name or as text, not both");
  if (options.prompt) return *options.prompt;
  const std::string name = options.prompt_name.value_or(embedding.default_prompt);
  if (name.empty()) return "";
  const auto found = embedding.prompts.find(name);
  if (found != embedding.prompts.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, text] : embedding.prompts) known.push_back(key);
  fail("this model has no prompt \"{}\": {}", name,
       known.empty() ? "it has none at all" : fmt::format("it has {}", fmt::join(known, ", ")));
}

/// Adds a piece's embedding, as often as it has tokens.
void add_to(TextEmbedding& sum, std::span<const float> values, std::size_t tokens) {
  sum.values.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sum.values[i] += values[i] * static_cast<float>(tokens);
}

void finish(TextEmbedding& sum, bool normalize) {
  double square = 0;
  for (float v : sum.values) square += static_cast<double>(v) * v;
  const double divisor = normalize ? std::max(std::sqrt(square), 1e-12) : static_cast<double>(sum.tokens);
  for (float& v : sum.values) v = static_cast<float>(v / divisor);
}

}  // namespace

SentenceEmbedding sentence_embedding_of(const Bundle& bundle) {
  const ModelFacts& facts = bundle.model->facts();
  check(!facts.decoder_start_token_id,
        "{} is an encoder-decoder ({}): embeddings are made by an encoder or a decoder alone", bundle.path.string(),
        facts.model_type);
  SentenceEmbedding embedding = SentenceEmbedding::read(bundle.path);
  if (facts.longest && embedding.longest) embedding.longest = std::min(*facts.longest, *embedding.longest);
  return embedding;
}

Embedder load_embedder(const Path& directory) {
  Bundle bundle = load_bundle(directory, {.head = HeadKind::none});
  SentenceEmbedding embedding = sentence_embedding_of(bundle);
  return {.bundle = std::move(bundle), .embedding = std::move(embedding)};
}

std::vector<TextEmbedding> embed(const Embedder& embedder, std::span<const std::string_view> texts,
                                 const EmbedOptions& options, const Run& run) {
  SentenceEmbedding embedding = embedder.embedding;
  if (options.pooling) embedding.pooling = {*options.pooling};
  if (options.normalize) embedding.normalize = *options.normalize;
  const StopWithin stop(run);
  const Model& model = *embedder.bundle.model;
  LongPolicy policy = embedder.bundle.contract.long_policy;
  if (embedding.longest) policy.longest = *embedding.longest;
  if (options.long_policy) policy.kind = *options.long_policy;
  const TextEncoder encoder(embedder.bundle.text(), policy, model.facts().longest.value_or(0));

  const std::string prompt = prompt_of(embedding, options);
  std::vector<std::string> prompted;
  if (!prompt.empty() || embedding.lower_case)
    for (std::string_view text : texts) {
      prompted.push_back(prompt + std::string(text));
      if (embedding.lower_case) prompted.back() = to_lower_case(prompted.back());
    }
  std::vector<std::string_view> read(texts.begin(), texts.end());
  if (!prompted.empty()) read.assign(prompted.begin(), prompted.end());
  // Tokens that stand before the text proper: the prompt's and the special ones in front, as sentence-transformers
  // counts them (all of the prompt's own encoding but what would end it).
  std::int64_t skipped = 0;
  if (!embedding.include_prompt && !prompt.empty()) {
    const Encoding alone = encoder.tokenizer().encode(prompt);
    skipped = static_cast<std::int64_t>(alone.size()) - (alone.size() > 0 && alone.special(alone.size() - 1) ? 1 : 0);
  }

  std::vector<TextEmbedding> results(texts.size());
  std::vector<TextPiece> pieces;
  const std::vector<EncodedText> encoded = encoder.encode_all(read);
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    results[i].tokens = encoded[i].tokens;
    results[i].chunks = static_cast<std::int64_t>(encoded[i].chunks.size());
    check(encoded[i].tokens > 0, "text {} has no token: there is nothing to embed", i + 1);
    check(skipped == 0 || results[i].chunks == 1,
          "text {} is read in {} pieces, and the prompt is not to be pooled: shorten or divide it", i + 1,
          results[i].chunks);
    for (const auto& ids : encoded[i].chunks) pieces.push_back({.text = i, .ids = ids});
  }
  for_each_batch(pieces, {.batch_tokens = options.batch_tokens, .doing = "embedding"}, run,
                 [&](std::span<const std::int64_t> numbers, const Batch& batch) {
                   const Tensor rows = embedding(model.forward(batch), batch.offsets, skipped);
                   const std::vector<float> values = output_values(rows);
                   const auto width = static_cast<std::size_t>(rows.dim(1));
                   for (std::size_t r = 0; r < numbers.size(); ++r) {
                     const TextPiece& piece = pieces[static_cast<std::size_t>(numbers[r])];
                     const std::span<const float> row = std::span(values).subspan(r * width, width);
                     TextEmbedding& to = results[piece.text];
                     if (to.chunks == 1)
                       to.values.assign(row.begin(), row.end());
                     else
                       add_to(to, row, piece.ids.size());
                   }
                 });
  for (TextEmbedding& one : results)
    if (one.chunks > 1) finish(one, embedding.normalize);
  return results;
}

}  // namespace attune
