#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attune/text/json_view.h"
#include "attune/text/vocabulary.h"

namespace attune {

/// A token of a word: its id and how many of the word's bytes it covers, from where the token before it ended; 0 for a
/// place between characters. `stays`: the next token covers the same bytes (bytes that stand for one unknown piece).
struct Symbol {
  std::int32_t id;
  std::uint32_t length;
  bool stays = false;
};

/// What a word (a piece that pre-tokenisation has left) becomes: BPE, WordPiece, Unigram, WordLevel.
class TokenizerModel {
 public:
  virtual ~TokenizerModel() = default;

  /// The model of a tokenizer file. Throws Error that names what is not supported.
  static std::shared_ptr<TokenizerModel> read(const JsonView& json);

  /// Appends the tokens of a word that is not empty. Safe from many threads at once.
  virtual void encode(std::string_view word, std::vector<Symbol>& symbols) const = 0;

  /// Tells the model that words come as raw bytes, not yet mapped to the alphabet of byte-level tokens; false where it
  /// can't take them so. To be called before the first encode.
  virtual bool take_raw_bytes() { return false; }

  /// The token whose text is that of the word's bytes which it stands for (unknown pieces of Unigram); -1: none.
  virtual std::int32_t surface_token() const { return -1; }

  /// The token that stands for what the vocabulary can not spell; -1: none.
  virtual std::int32_t unknown_token() const { return -1; }
  /// Tokens that go on with a word are spelled with a mark in front ("##ing").
  virtual bool marks_continuations() const { return false; }

  /// The model as the tokenizer file's JSON.
  virtual void write(std::string& json) const = 0;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit TokenizerModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  Vocabulary vocabulary_;
};

/// One for each kind; `json` is the file's "model".
std::shared_ptr<TokenizerModel> read_bpe(const JsonView& json);
std::shared_ptr<TokenizerModel> read_word_piece(const JsonView& json);
std::shared_ptr<TokenizerModel> read_unigram(const JsonView& json);
std::shared_ptr<TokenizerModel> read_word_level(const JsonView& json);

}  // namespace attune
