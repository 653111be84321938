#pragma once

#include <memory>
#include <string>

#include "attune/text/byte_trie.h"
#include "attune/text/decoder.h"
#include "attune/text/model.h"
#include "attune/text/normalizer.h"
#include "attune/text/pre_tokenizer.h"
#include "attune/text/sentencepiece_file.h"

namespace attune {

/// The parts of a tokenizer that does what the `sentencepiece` package does with the same file: the same ids, offsets
/// (where its "immutable proto" has them) and decoded text.

/// Cleans spaces and replaces what the file's table has; symbols that the user defined stay as they are.
std::shared_ptr<const Normalizer> sentencepiece_normalizer(const SentencePieceFile& file);
/// Cuts the text where no token can cross, so that words can be remembered; null where tokens may cross everywhere.
std::shared_ptr<const PreTokenizer> sentencepiece_words(const SentencePieceFile& file);
/// Unigram or BPE. Throws Error on other kinds.
std::shared_ptr<TokenizerModel> sentencepiece_model(const SentencePieceFile& file, const std::string& source);
std::shared_ptr<const TokenDecoder> sentencepiece_decoder(const SentencePieceFile& file);

/// Pieces that are found in a text before anything else.
ByteTrie user_symbols(const SentencePieceFile& file);

}  // namespace attune
