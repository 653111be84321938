#pragma once

#include "attune/text/tokenizer.h"

namespace attune {

/// A SentencePiece model alone: what the `sentencepiece` package gives, nothing around it. Its control symbols (<s>)
/// are special tokens that texts can't hold.
Tokenizer open_sentencepiece(const Path& file);
Tokenizer parse_sentencepiece(std::string bytes, const std::string& source);

/// The file of a directory's SentencePiece model (tokenizer.model, spiece.model, sentencepiece.bpe.model, spm.model, or
/// Marian's source.spm); empty where there is none.
Path sentencepiece_file_in(const Path& directory);

/// A published directory with such a file. What stands around a text and which tokens are found in it follows
/// tokenizer_config.json, as transformers has it for the classes LlamaTokenizer, GemmaTokenizer, T5Tokenizer,
/// MarianTokenizer, M2M100Tokenizer and those of sentencepiece_classes.h; without that file a class is known by the
/// type in config.json, and nothing is added where the type has none. Throws Error on other classes.
Tokenizer open_sentencepiece_directory(const Path& directory);

}  // namespace attune
