#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "attune/text/added_tokens.h"
#include "attune/text/decoder.h"
#include "attune/text/model.h"
#include "attune/text/normalizer.h"
#include "attune/text/post_processor.h"
#include "attune/text/pre_tokenizer.h"
#include "attune/text/tokenizer.h"
#include "attune/text/word_cache.h"

namespace attune {

/// What one encoding needs besides the tokenizer: kept from call to call.
struct Workspace {
  Pieces pieces;
  WordCache cache;
  std::vector<std::uint32_t> points;  // [bytes], the code point of each
};

/// What a Tokenizer consists of. The sections of the file are kept as text, so that they are written as they were read.
struct Tokenizer::Parts {
  std::string truncation = "null", padding = "null";
  std::string normalizer_json = "null", pre_tokenizer_json = "null", post_processor_json = "null",
              decoder_json = "null";
  std::shared_ptr<const Normalizer> normalizer;
  std::shared_ptr<const PreTokenizer> pre_tokenizer;
  std::shared_ptr<const PostProcessor> post_processor;
  std::shared_ptr<const TokenDecoder> decoder;
  std::shared_ptr<const TokenizerModel> model;
  AddedTokens added;
  std::vector<Margins> margins;                            // [limit], where the post-processor trims
  std::vector<std::pair<std::string, std::string>> files;  // names and bytes, of what is not made from tokenizer.json
  bool raw_bytes = false;  // words reach the model as bytes, not as characters of the byte alphabet

  /// The text's pieces without looking for added tokens: what training counts.
  void split_for_training(std::string_view text, Pieces& pieces) const;

  void encode_sequence(std::string_view text, std::int8_t sequence, Workspace& workspace, TokenList& tokens,
                       std::vector<std::string>& added_texts) const;
  Encoding encode(const TextPair& input, EncodeOptions options, Workspace& workspace) const;
  std::string_view token(std::int32_t id) const;  // empty where there is none
  /// The token as decoding sees it; nothing where there is none, or where it is special and those are skipped.
  std::optional<std::string_view> decoded_token(std::int32_t id, bool skip_special) const;

  std::unique_ptr<Workspace> borrow() const;
  void give_back(std::unique_ptr<Workspace> workspace) const;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

/// Margins of a token's text: byte-level spaces and white space.
Margins margins_of(std::string_view token);

}  // namespace attune
