#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/file.h"

namespace attune {

/// Code points [begin, end) of the text that was encoded.
struct TextRange {
  std::int32_t begin = 0, end = 0;
  bool operator==(const TextRange&) const = default;
};

/// A text (or a pair) as a model reads it. All lists have one entry a token.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;
  std::vector<TextRange> offsets;      // of the token's own sequence; [0, 0) for what the post-processor added
  std::vector<std::int8_t> sequences;  // 0 or 1, the sequence of a pair; -1 for what the post-processor added
  std::vector<std::string> tokens;     // texts; empty unless asked for

  std::size_t size() const { return ids.size(); }
  /// 1 for the tokens that the post-processor added ([CLS], [SEP], ...): Hugging Face's special_tokens_mask.
  bool special(std::size_t token) const { return sequences[token] < 0; }
};

struct EncodeOptions {
  bool add_special_tokens = true;
  bool tokens = false;  // fill Encoding::tokens
};

struct TextPair {
  std::string_view text;
  std::optional<std::string_view> pair = std::nullopt;
};

/// A token beside the model's own, matched in the text before anything else happens to it.
struct AddedToken {
  std::string content;
  std::int32_t id = -1;
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
};

/// Text to token ids and back, as Hugging Face's tokenizers do it: the same ids, offsets and decoded text for the same
/// tokenizer.json. A handle: copies share one tokenizer that never changes. Safe from many threads at once.
///
///   Tokenizer tokenizer = Tokenizer::open(model_directory);
///   Encoding encoding = tokenizer.encode("Bonjour");
///   std::string text = tokenizer.decode(encoding.ids);
///
/// Supported: the models BPE, WordPiece, Unigram and WordLevel, and every component that Hugging Face's tokenizers 0.23
/// have; SentencePiece models of both kinds. What a file asks for and Attune lacks is an Error that names it. A file's
/// "truncation" and "padding" are kept and written, never applied.
class Tokenizer {
 public:
  /// A tokenizer.json, or a SentencePiece .model; or a directory with tokenizer.json, or with a SentencePiece model
  /// (sentencepiece_directory.h), or with vocab.txt (BERT), or with vocab.json and merges.txt (GPT-2, RoBERTa), for
  /// which tokenizer_config.json is heeded. Throws Error that names the file and what is wrong in it.
  static Tokenizer open(const Path& file_or_directory);
  /// True where the directory has one of these.
  static bool is_in(const Path& directory);
  static Tokenizer parse(std::string_view json, const std::string& source);

  /// As tokenizer.json; save() writes it to a file, whole or not at all. Throws Error where the tokenizer is a
  /// SentencePiece model, which tokenizer.json can't say in all detail.
  std::string json() const;
  void save(const Path& file) const;
  /// Writes what open() needs to a directory: tokenizer.json, or the files of a SentencePiece model as they were.
  void save_in(const Path& directory) const;

  /// Throws Error with the byte's position where a text is not UTF-8, and beyond 1 GB.
  Encoding encode(std::string_view text, EncodeOptions options = {}) const;
  Encoding encode(const TextPair& input, EncodeOptions options = {}) const;
  /// The same for many texts on all threads; results in the order of the inputs.
  std::vector<Encoding> encode_batch(std::span<const TextPair> inputs, EncodeOptions options = {}) const;

  /// Ids that no token has give nothing, as with Hugging Face's tokenizers: a model's output may be wider than its
  /// vocabulary.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens = true) const;

  std::int32_t size() const;   // tokens, the added ones too
  std::int32_t limit() const;  // largest id + 1: the least size of an embedding table
  std::optional<std::int32_t> id_of(std::string_view token) const;
  std::optional<std::string> token_of(std::int32_t id) const;
  const std::vector<AddedToken>& added_tokens() const;  // by id
  bool is_special(std::int32_t id) const;
  /// The token that stands for what the vocabulary can not spell.
  std::optional<std::int32_t> unknown_token() const;
  /// Tokens that go on with a word are spelled with a mark in front ("##ing").
  bool marks_continuations() const;

  /// Sections of the file that are kept and not applied, as JSON text; "null" where there are none.
  const std::string& truncation() const;
  const std::string& padding() const;

  struct Parts;
  const Parts& parts() const { return *parts_; }
  static Tokenizer made_of(std::shared_ptr<const Parts> parts) { return Tokenizer(std::move(parts)); }

 private:
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

/// Text from tokens that come one by one. No push ends inside a character. All that push() gives, and finish() at the
/// end, together are what decode() gives for all ids, with one exception: a run of byte tokens (<0xE4>) that is no
/// valid text as a whole decodes to U+FFFD for each byte, but the characters in it that were complete have been given
/// before.
class StreamDecoder {
 public:
  explicit StreamDecoder(Tokenizer tokenizer, bool skip_special_tokens = true)
      : tokenizer_(std::move(tokenizer)), skip_(skip_special_tokens) {}

  /// The text that this token completes; may be empty.
  std::string push(std::int32_t id);
  /// What was held back: an unfinished character as U+FFFD.
  std::string finish();

 private:
  std::string beyond_known(const std::string& text) const;

  Tokenizer tokenizer_;
  bool skip_;
  std::vector<std::int32_t> window_;  // the tokens that the next text depends on
  std::size_t known_ = 0;             // of them, those whose text was given
  std::string known_text_;            // their text
};

}  // namespace attune
