#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attune/base/config_reader.h"
#include "attune/nn/attention/multi_head.h"
#include "attune/nn/batch.h"
#include "attune/nn/parameters.h"
#include "attune/ops/rotary.h"

namespace attune {

struct ScoreChanges;  // ops/attention_scores.h

/// Where a position method is to be used.
struct PositionUse {
  bool causal = true;         // a decoder: no token sees a later one
  AttentionSizes sizes = {};  // of every block
  std::int64_t hidden_size = 0;
  std::int64_t longest = 0;        // tokens in a sequence, for methods with a table of that length; 0: not bounded
  double deviation = 0.02;         // what learned tables begin with
  std::string otherwise = "none";  // the method where the config names none
};

/// What a position method gives to a model; a method fills one of the functions, the others are null.
///
///   x = words(batch.ids);
///   if (positions.added) x = add(x, positions.added(batch));          // once, in front of the blocks
///   if (positions.rotary) turned.rotary = positions.rotary(batch);    // once, for all blocks
///   if (positions.scores) rule.scores = positions.scores(w / "attn"); // in each block, when it is built
///   if (positions.scale) rule.scale = positions.scale;
struct PositionParts {
  /// Vectors to add to the embeddings, [tokens, hidden_size], of the weights' type.
  std::function<Tensor(const Batch&)> added = {};
  /// Angles by which self-attention turns queries and keys: Batch::rotary. Of the weights' type.
  std::function<RotaryTable(const Batch&)> rotary = {};
  /// How one block's self-attention changes its scores. What the block learns for itself (Shaw's table) is declared
  /// under its own weights; what blocks share (T5's) under those that the method was built with.
  std::function<ScoreChanges(const Weights& block)> scores = {};
  /// Of the scores, where the method asks for another than 1 / sqrt(head_dim) (DeBERTa).
  std::optional<double> scale = {};
  /// Tokens in a sequence that the method takes; 0: any number.
  std::int64_t longest = 0;
  /// A token's angles depend on Batch::planned_lengths.
  bool by_planned_length = false;
};

/// One row of the registry. A method's file registers itself.
struct PositionEntry {
  std::string name;   // config's "positions": {"method": "rotary", ...}
  std::string paper;  // "Su et al. 2021, RoFormer"
  /// Reads the method's own keys of the config's "positions" object and declares shared weights under `w`.
  std::function<PositionParts(const ConfigReader& config, const PositionUse& use, const Weights& w)> build;
};

struct RegisterPositions {
  explicit RegisterPositions(PositionEntry entry);
};

/// By name: alibi, deberta, learned, none, rotary, shaw, sinusoidal, t5.
const std::vector<PositionEntry>& position_methods();

/// Builds the method that `config` names. Throws Error, naming those there are, where it
/// is unknown, or where its values do not fit the use.
PositionParts build_positions(const ConfigReader& config, const PositionUse& use, const Weights& w);

}  // namespace attune
