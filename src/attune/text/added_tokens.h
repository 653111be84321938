#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attune/text/flat_map.h"
#include "attune/text/model.h"
#include "attune/text/normalizer.h"
#include "attune/text/pieces.h"
#include "attune/text/string_table.h"
#include "attune/text/tokenizer.h"

namespace attune {

/// Finds tokens that are matched as they are, before the text is split: the leftmost, and of those the longest. What
/// the flags of a token ask (single words, white space around) is as in Hugging Face's AddedVocabulary.
class TokenMatcher {
 public:
  void add(std::string_view text, const AddedToken& token);
  bool empty() const { return tokens_.empty(); }
  /// Replaces the pieces of `pieces` by what lies between the tokens, and the tokens.
  void split(Pieces& pieces, const Piece& piece) const;

 private:
  std::int32_t longest_at(std::string_view text, std::size_t at, std::size_t& end) const;

  FlatMap<std::int32_t> edges_;
  std::vector<std::int32_t> node_tokens_{-1};  // [nodes], the index in tokens_, or -1
  std::vector<AddedToken> tokens_;
  std::array<bool, 256> begins_{};  // bytes that some token begins with
};

/// The tokens that a tokenizer file adds to its model's.
class AddedTokens {
 public:
  /// `json`: the file's "added_tokens". Throws Error where an id is not the one that the token gets from its place.
  void read(const JsonView& json, const TokenizerModel& model, const Normalizer* normalizer);

  /// A token of the model that counts as added and is never found in a text.
  void declare(const AddedToken& token);

  /// Splits the text into added tokens and normalised rest.
  void split(std::string_view text, const Normalizer* normalizer, Pieces& pieces) const;

  const std::vector<AddedToken>& list() const { return list_; }  // by id
  const AddedToken* find(std::int32_t id) const;
  const AddedToken* find(std::string_view content) const;
  /// What decoding sees: the normalised form of tokens that are matched in it.
  std::string_view decoded(const AddedToken& token) const;
  bool is_special_text(std::string_view text) const;

 private:
  std::vector<AddedToken> list_;
  StringTable contents_;                   // in the file's order
  std::vector<std::int32_t> content_ids_;  // [contents_]
  std::vector<std::string> normal_forms_;  // [list_]
  TokenMatcher raw_, normalized_;
};

}  // namespace attune
