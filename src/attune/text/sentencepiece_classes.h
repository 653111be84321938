#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attune/text/sentencepiece_file.h"
#include "attune/text/tokenizer_settings.h"

namespace attune {

/// A directory with a SentencePiece model and no tokenizer.json, as transformers 5 reads it where it makes a
/// tokenizer.json's parts of the model's pieces: for the classes XLMRobertaTokenizer, CamembertTokenizer,
/// MBartTokenizer, MBart50Tokenizer, PegasusTokenizer, AlbertTokenizer, BigBirdTokenizer and DebertaV2Tokenizer.
/// Returns that tokenizer.json; none for other classes.
std::optional<std::string> tokenizer_json_of_pieces(const SentencePieceFile& file, const std::string& class_name,
                                                    const TokenizerSettings& settings);

/// What M2M100's vocabulary numbers behind its last token, in this order: "__af__", "__am__", ...; none where
/// `language_codes` names no list that is known.
std::vector<std::string> m2m_100_languages(const std::string& language_codes);

}  // namespace attune
