#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attune/base/file.h"
#include "attune/kernels/attention_mask.h"

namespace attune::bench {

/// One work of `attune bench attention`: self-attention over some sequences, the same in Attune and its peers.
struct AttentionCase {
  std::string name;
  std::vector<std::int64_t> lengths;
  std::string mask = "bidirectional";  // as peers are told: bidirectional, causal, window or longformer
  std::string scores = "none";         // none, t5, alibi or deberta
  bool backward = false;
  bool memory = false;  // is measured too
  bool long_ = false;   // minutes: run on all threads only, and its memory is the whole process's
  std::int64_t heads = 12, head_dim = 64;

  AttentionMask rule_mask() const;
  /// Multiplications and additions that must be made: two products forward, five more backward (the scores are made
  /// again), of each query with the keys that it sees. What changes of the scores cost is not counted.
  double operations() const;
  /// Bytes of the tensors that a call cannot do without: y, and backward the gradients.
  double result_bytes() const;
  std::int64_t tokens() const;
  std::string memory_name() const { return name + ", memory"; }
};

constexpr std::int64_t window_side = 128;      // "window 256": as many keys before a query and after it
constexpr std::int64_t longformer_side = 256;  // Longformer's attention_window of 512
constexpr std::int64_t longformer_globals = 16;

std::vector<AttentionCase> attention_cases();

/// For the peers: a new directory with cases.jsonl, a JSON line a case.
void write_attention_cases(const Path& directory);

}  // namespace attune::bench
