#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/run.h"
#include "attune/bundle/bundle.h"
#include "attune/bundle/sentence_embedding.h"

namespace attune {

/// A sentence encoder: a model without a head, and how its states become embeddings.
struct Embedder {
  Bundle bundle;
  SentenceEmbedding embedding;

  std::int64_t width() const { return embedding.width(bundle.model->facts().hidden_size); }
};

/// Opens any encoder or decoder directory for embedding, whatever head it has. Throws Error as load_bundle does, and
/// for a model that reads one text to write another.
Embedder load_embedder(const Path& directory);
/// How a model that is open already embeds, whatever head it has; throws the same.
SentenceEmbedding sentence_embedding_of(const Bundle& bundle);

struct EmbedOptions {
  /// The name of a prompt of the model's ("query"), put before every text; not given: the model's default, if any.
  std::optional<std::string> prompt_name = {};
  std::optional<std::string> prompt = {};            // or the text itself
  std::optional<SentencePooling> pooling = {};       // in place of the model's
  std::optional<bool> normalize = {};                // in place of the model's
  std::optional<LongPolicy::Kind> long_policy = {};  // in place of the contract's
  std::int64_t batch_tokens = 8192;
};

struct TextEmbedding {
  std::vector<float> values;  // [width]
  std::int64_t tokens = 0, chunks = 1;
};

/// The embedding of each text, in their order and with the bits that it has alone. A text beyond the longest input is
/// refused with both numbers, or with LongPolicy::chunk read in pieces, whose embeddings are averaged by their tokens
/// (and normalised again where the model normalises). Throws Cancelled where the run is stopped.
std::vector<TextEmbedding> embed(const Embedder& embedder, std::span<const std::string_view> texts,
                                 const EmbedOptions& options, const Run& run);

}  // namespace attune
