#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/run.h"
#include "attune/text/tokenizer.h"

namespace attune {

enum class TokenizerKind { byte_level_bpe, word_piece, unigram };

/// The kind that users call "bpe", "wordpiece" or "unigram". Throws Error on other names.
TokenizerKind tokenizer_kind(std::string_view name);

/// What to train. The same texts and settings always give the same file, byte for byte.
struct TokenizerTraining {
  TokenizerKind kind = TokenizerKind::byte_level_bpe;
  std::int64_t vocab_size = 8192;      // with special tokens and alphabet; fewer where the texts give no more
  std::int64_t min_frequency = 2;      // of a pair that is to be joined; unigram has no use for it
  std::int64_t limit_alphabet = 1000;  // characters kept, the most frequent; byte_level_bpe always has all 256 bytes
  bool lower_case = true;              // word_piece: lower case, and accents off
  /// The first ids, in this order. Empty: <|endoftext|> for byte_level_bpe, [PAD] [UNK] [CLS] [SEP] [MASK] for
  /// word_piece (which needs [UNK]), <pad> </s> <unk> for unigram (which needs <unk> or [UNK]).
  std::vector<std::string> special_tokens = {};
  /// Special tokens put around what is encoded: "start A end" and "start A end B end"; "" for none. word_piece takes
  /// [CLS] and [SEP] where they are special tokens and both are empty here.
  std::string start_token = {}, end_token = {};
};

/// Puts the next text into its argument; false at the end.
using TextSource = std::function<bool(std::string&)>;

/// Trains a tokenizer as Hugging Face's BpeTrainer and WordPieceTrainer do (Sennrich et al. 2016, algorithm 1; for
/// word_piece the same merges, used greedily): the pair of neighbours that is most frequent becomes a token, ties go to
/// the lower ids. Where the reference depends on the order of a hash table (word_piece's "##" characters), the order is
/// that of the words' bytes. unigram: unigram_trainer.h. Throws Error where a text is not UTF-8, where there is none,
/// or where vocab_size has no room for the alphabet.
Tokenizer train_tokenizer(const TokenizerTraining& training, const TextSource& texts, const Run& run = {});

}  // namespace attune
