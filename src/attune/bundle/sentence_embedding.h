#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attune/base/file.h"
#include "attune/ops/activation.h"
#include "attune/ops/linear.h"
#include "attune/tensor/offsets.h"

namespace attune {

/// How one vector is made of a text's token states (Reimers & Gurevych 2019, "Sentence-BERT", section 3).
enum class SentencePooling {
  cls,            // the first token
  mean,           // of all tokens
  max,            // of each value
  mean_sqrt_len,  // the sum over the root of the number of tokens
  weighted_mean,  // token t counts t + 1 times (Muennighoff 2022, "SGPT")
  last_token,
};
/// "cls", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"; else Error that lists them.
SentencePooling parse_sentence_pooling(const std::string& name);
std::string name_of(SentencePooling pooling);

/// From a text's token states to its embedding, as a sentence-transformers directory says it: modules.json and what it
/// names (pooling, dense layers, normalising), the prompts of config_sentence_transformers.json, and the longest input
/// of sentence_bert_config.json (where it has none, tokenizer_config.json's; tokenizer.json's truncation sets nothing).
struct SentenceEmbedding {
  struct Dense {
    LinearWeight weight;                   // [out, in]
    Tensor bias;                           // [out], or not defined
    std::optional<Activation> activation;  // none: the identity
  };

  std::vector<SentencePooling> pooling = {SentencePooling::mean};  // several: one beside the other
  bool include_prompt = true;                                      // the prompt's tokens are pooled, too
  std::vector<Dense> dense = {};
  bool normalize = false;                           // to length 1, after all else
  std::optional<std::int64_t> longest = {};         // tokens of one text, special ones included
  bool lower_case = false;                          // texts are read in lower case
  std::map<std::string, std::string> prompts = {};  // what is put before a text, by name
  std::string default_prompt = "";                  // the name of the one put before every text; or none

  /// Of a model directory. Without modules.json: the mean of all tokens, as sentence-transformers takes a plain
  /// encoder. Throws Error that names the file and what in it is not known here; a module that would change the
  /// embedding is never passed over.
  static SentenceEmbedding read(const Path& directory);

  /// Numbers of an embedding where token states have `hidden`.
  std::int64_t width(std::int64_t hidden) const;
  /// states: [tokens, hidden] f32; no sequence is empty. skipped: tokens at the beginning of each sequence that are not
  /// pooled (the prompt's, where include_prompt is off). Returns [sequences, width].
  Tensor operator()(const Tensor& states, const Offsets& offsets, std::int64_t skipped = 0) const;
};

}  // namespace attune
