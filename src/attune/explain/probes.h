#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/evaluate/intervals.h"
#include "attune/explain/probe_documents.h"

namespace attune::explain {

/// A language model that is probed, and how.
struct Probed {
  const Model& model;
  Asking asking = {};
};

/// One length of a probe of perplexity.
struct LengthPerplexity {
  std::int64_t length = 0;
  std::string skipped = {};      // why it was not measured; then all else is empty
  std::int64_t tokens = 0;       // that the model was asked for
  evaluate::Interval loss = {};  // mean -log p, and its interval over stretches of the longest length
  struct Part {
    std::int64_t begin = 0, end = 0;  // places in a sequence
    std::int64_t tokens = 0;
    double loss = 0;
  };
  std::vector<Part> by_position = {};  // up to 64, to 128, ... tokens from the beginning

  double perplexity() const;
};

/// The same tokens read in sequences of each length: how much a longer sight helps, and whether a model works beyond
/// the length that it was trained at. `text` is one stream of tokens, cut into stretches of the longest length (a rest
/// is left out). A causal model is asked for all but a sequence's first token; one of masked tokens for 15 %, drawn
/// once by place, so the two are not comparable. Lengths that the model does not take are skipped, with the reason.
/// Throws Error where a length is below 2 or the text is shorter than the longest one.
std::vector<LengthPerplexity> probe_perplexity(const Probed& probed, const std::vector<std::int64_t>& text,
                                               const std::vector<std::int64_t>& lengths, const Run& run = {});

/// One length and depth of a needle or copy probe.
struct ProbeCell {
  std::int64_t length = 0;
  double depth = 0;
  std::string skipped = {};
  std::int64_t documents = 0;
  evaluate::Interval accuracy = {};  // of the tokens asked for; Wilson's, a document counted as one trial
  double loss = 0;                   // mean -log p
};

inline constexpr std::int64_t most_documents = 100000;  // of one length and depth

struct ProbeGrid {
  std::vector<std::int64_t> lengths;
  std::vector<double> depths;
  std::int64_t documents = 20;  // in each cell
  std::uint64_t seed = 0;
};

/// Documents of needle_document() by length and depth. The same seed gives the same documents to every model with this
/// tokenizer.
std::vector<ProbeCell> probe_needle(const Probed& probed, const ProbeText& text, const ProbeGrid& grid,
                                    std::int64_t pairs, const Run& run = {});
/// Documents of copy_document(). A model of masked tokens is asked for every sixth word of the second time alone, the
/// others stand.
std::vector<ProbeCell> probe_copy(const Probed& probed, const ProbeText& text, const ProbeGrid& grid, std::int64_t span,
                                  const Run& run = {});

}  // namespace attune::explain
