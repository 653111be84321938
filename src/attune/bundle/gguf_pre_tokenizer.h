#pragma once

#include <string>
#include <vector>

namespace attune {

/// How a byte-level BPE tokenizer cuts text before it merges, by the name that GGUF files have for it
/// ("tokenizer.ggml.pre").
struct GgufPreTokenizer {
  std::vector<std::string> names;           // the first one is written
  std::vector<std::string> steps;           // pre-tokenizers as in tokenizer.json, JSON texts, one after the other
  bool nfc = false;                         // text is brought into Unicode's composed form first
  bool ignore_merges = false;               // a word that is a token is that token, whatever the merges give
  bool adds_bos = false, adds_eos = false;  // where the metadata do not say
};

/// Throws Error, listing what there is.
const GgufPreTokenizer& gguf_pre_tokenizer(const std::string& name);
/// All that are known, for finding the one that a tokenizer.json has.
const std::vector<GgufPreTokenizer>& gguf_pre_tokenizers();

}  // namespace attune
