#pragma once

#include <string>
#include <string_view>

#include "attune/base/json.h"
#include "attune/checkpoint/gguf_metadata.h"
#include "attune/text/tokenizer.h"

namespace attune {

/// Whether the metadata of a GGUF file hold a tokenizer.
bool has_gguf_tokenizer(const GgufMetadata& metadata);

/// The tokenizer of a GGUF file as a tokenizer.json, so that both kinds of model have one way to ids. Models: gpt2
/// (byte-level BPE), llama (SentencePiece's BPE with byte fallback), bert (WordPiece), t5 (SentencePiece's unigram).
/// Throws Error that names the key where something is missing or not known.
std::string gguf_tokenizer_json(const GgufMetadata& metadata);

/// "[PAD]", "[unused1]": tokens of a WordPiece vocabulary that stand in the file as they are; not "[", which a word may
/// be or end with.
bool is_bracketed(std::string_view token);

/// What the metadata cannot be told from tokenizer.json: config.json's object, for the ids of special tokens.
struct GgufTokenizerFacts {
  const Json* config;
  std::int64_t vocab_size;   // rows of the table of embeddings: tokens up to there are written
  std::string architecture;  // GGUF's
};
/// The same way back. Throws Error that names what a GGUF file has no form for.
void add_gguf_tokenizer(GgufMetadata& metadata, const Tokenizer& tokenizer, const GgufTokenizerFacts& facts);

}  // namespace attune
