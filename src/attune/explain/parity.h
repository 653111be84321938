#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attune/base/run.h"
#include "attune/bundle/bundle.h"
#include "attune/explain/template_parity.h"

namespace attune::explain {

/// How far two forms of one model are from each other on a text.
struct Parity {
  std::int64_t texts = 0, tokens = 0;
  std::int64_t other_ids = 0;                // texts that their tokenizers give different ids for
  std::string first_other;                   // the first such text
  TemplateParity templates = {};             // what their chat templates make of short conversations
  std::int64_t compared = 0;                 // tokens whose outputs were compared: those of texts with the same ids
  bool has_logits = false;                   // else what is compared is the last hidden state
  double worst_difference = 0;               // of two logits, or two values of the state
  double mean_cosine = 0, least_cosine = 1;  // between two tokens' outputs
  double mean_kl = 0, worst_kl = 0;          // of the second's next-token distribution from the first's, in nats
  std::int64_t same_best = 0;                // tokens after which both find the same token the most likely
};

struct ParityOptions {
  std::int64_t piece = 256;         // tokens that a model is given at once, at most: longer texts are cut into such
  std::int64_t most_tokens = 4096;  // whose outputs are compared; ids are compared of all texts
};

/// Runs both models over the texts; an encoder-decoder reads each text and writes it too. Throws Error where one lacks
/// a tokenizer; Cancelled between pieces.
Parity compare(const Bundle& first, const Bundle& second, std::span<const std::string> texts,
               const ParityOptions& options = {}, const Run& run = {});

}  // namespace attune::explain
