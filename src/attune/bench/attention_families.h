#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/bench/power_law.h"

namespace attune::bench {

struct FamilyOptions {
  std::vector<std::string> families;  // names; "all"
  std::vector<std::int64_t> lengths;  // ascending
  double budget = 20;      // seconds: a length that would take longer by what the shorter ones took is skipped
  double repeated = 0.15;  // seconds in which a short pass is made again and again, for the median
};

/// One family at one length.
struct FamilyCost {
  std::string family, paper;
  bool causal = true;     // where the family can be; else bidirectional
  bool backward = false;  // forward and backward
  std::int64_t tokens = 0;
  int threads = 1;
  double ms = 0;
  double bytes = 0;          // of tensors, the most at a time that one call adds to its inputs and weights
  std::string skipped = {};  // why it was not measured; then ms and bytes are 0
};

/// How a family's cost grows by length: over the longest lengths that were measured, five at most.
struct FamilyFit {
  std::string family;
  bool causal = true, backward = false;
  std::int64_t from = 0, to = 0;  // tokens
  PowerLaw ms;
  std::optional<PowerLaw> bytes;  // none where a call at one of the lengths added no memory
};

/// {"bench": "attention", "family": .., "causal": .., "pass": "forward" or "both", "tokens": .., "threads": .., "ms":
/// .., "bytes": ..} or .. "skipped": ".."}
std::string json_line(const FamilyCost& cost);
/// {.., "fit": [from, to], "ms_exponent": [value, low, high], "bytes_exponent": ..}
std::string json_line(const FamilyFit& fit);
std::string text_line(const FamilyCost& cost);
std::string text_line(const FamilyFit& fit);

struct FamilyReport {
  std::function<void(const FamilyCost&)> cost;
  std::function<void(const FamilyFit&)> fit = {};  // null: none is made
};

/// `attune bench attention --families`: what stands between a layer's projections, 4 heads of 64 over one sequence,
/// with each family's own defaults. The projections are not in it. Throws Error where a name is no family's, and
/// Cancelled.
void attention_families(const FamilyOptions& options, const FamilyReport& report, const Run& run = {});

}  // namespace attune::bench
