#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attune/base/config_reader.h"
#include "attune/nn/batch.h"
#include "attune/nn/position/rope_scaling.h"
#include "attune/ops/rotary.h"

namespace attune {

/// Rotary position embedding as a model's config describes it (Su et al. 2021, "RoFormer", section 3.2.2).
struct RopeConfig {
  double theta = 10000;          // base of the frequencies
  std::int64_t rotary_dims = 0;  // values of a head that turn: head_dim, or its partial_rotary_factor; even
  RotaryPairing pairing = RotaryPairing::half_split;
  RopeScaling scaling = {};
  std::vector<float> frequencies = {};  // as a file holds them, [rotary_dims / 2]; empty: by theta and scaling
};

/// What an architecture takes where its config says nothing, and how it names two of the values.
struct RopeDefaults {
  std::int64_t longest = 2048;      // max_position_embeddings; 0: it has none, and scaling that needs one is an Error
  double theta = 10000, share = 1;  // share: of a head's values that turn
  const char* theta_key = "rope_theta";
  const char* share_key = "partial_rotary_factor";  // outside of rope_parameters, which has one name for each
};

/// Rotary positions in either spelling: `rope_theta` with `rope_scaling` (transformers 4), or `rope_parameters` (5).
/// Throws Error, naming the keys, where values are missing, contradict each other or fit no head of `head_dim` values.
RopeConfig read_rope(const ConfigReader& config, std::int64_t head_dim, const RopeDefaults& defaults = {});

/// One of several rotary positions of a model: all values in `parameters`, an object of their own within `config`
/// (Gemma 3's rope_parameters.full_attention).
RopeConfig read_rope_of(const ConfigReader& parameters, const ConfigReader& config, std::int64_t head_dim,
                        const RopeDefaults& defaults = {});

/// Angle per position of each pair, [rotary_dims / 2], rounded to f32 as published implementations keep it. `length`:
/// how many tokens the request may come to; of meaning only where scaling.depends_on_length(). Throws Error where a
/// value is out of range.
std::vector<float> inverse_frequencies(const RopeConfig& config, std::int64_t length = 0);

/// Cosines and sines for tokens at the given positions of a request of `length` tokens, f32. The angle is the product
/// rounded to f32, which is what published models were trained with; at position 100,000 an exact one would differ by
/// up to 0.004.
RotaryTable rotary_table(const RopeConfig& config, std::span<const std::int64_t> positions, std::int64_t length = 0);

/// For a batch's tokens. Scaling that depends on length is fixed for each sequence by Batch::planned_lengths, whatever
/// else is in the batch, so that keys in a cache and the queries that look at them turn by the same frequencies.
RotaryTable rotary_table(const RopeConfig& config, const Batch& batch);

/// The same in another type, for models that run in f64.
RotaryTable to_type(const RotaryTable& table, DType type);

}  // namespace attune
