#include "attune/nn/position/rotary.h"

#include <fmt/format.h>

#include <cmath>

#include "attune/base/log.h"
#include "attune/nn/position/positions.h"

namespace attune {

namespace {

/// Angles of consecutive rows of a table.
struct RowWriter {
  float *cos, *sin;

  void write(std::span<const std::int64_t> positions, const std::vector<float>& frequencies, double magnitude) {
    for (std::int64_t position : positions) {
      for (float frequency : frequencies) {
        const auto angle = static_cast<double>(static_cast<float>(position) * frequency);
        *cos++ = static_cast<float>(std::cos(angle) * magnitude);
        *sin++ = static_cast<float>(std::sin(angle) * magnitude);
      }
    }
  }
};

RotaryTable empty_table(const RopeConfig& config, std::int64_t tokens) {
  const Shape shape{tokens, config.rotary_dims / 2};
  return {Tensor::empty(shape), Tensor::empty(shape), config.pairing};
}

const RegisterPositions registered({
    .name = "rotary",
    .paper = "Su et al. 2021, RoFormer: enhanced Transformer with rotary position embedding",
    .build = [](const ConfigReader& config, const PositionUse& use, const Weights& w) -> PositionParts {
      // One length in two places could contradict itself.
      if (config.has("max_position_embeddings"))
        config.reject("max_position_embeddings",
                      "give it beside \"positions\", not within; where scaling begins is "
                      "original_max_position_embeddings");
      RopeConfig rope = read_rope(config, use.sizes.head_dim, {.longest = use.longest});
      const auto longest = static_cast<double>(use.longest);
      if (use.longest > 0 && rope.scaling.depends_on_length() && rope.scaling.original_positions >= longest)
        log_warning(
            fmt::format("{}: rotary scaling by length begins beyond {} tokens, and the model takes no more than "
                        "{}: it changes nothing; give an original_max_position_embeddings below "
                        "max_position_embeddings",
                        config.source(), rope.scaling.original_positions, use.longest));
      if (config.choice_or("pairing", "half_split", {"half_split", "interleaved"}) == "interleaved")
        rope.pairing = RotaryPairing::interleaved;
      inverse_frequencies(rope);  // what is out of range is an Error now
      return {
          .rotary = [rope, type = w.type()](const Batch& batch) { return to_type(rotary_table(rope, batch), type); },
          .by_planned_length = rope.scaling.depends_on_length()};
    },
});

}  // namespace

std::vector<float> inverse_frequencies(const RopeConfig& c, std::int64_t length) {
  if (!c.frequencies.empty()) return c.frequencies;
  const std::vector<double> exact = scaled_frequencies(c.scaling, c.theta, c.rotary_dims, length);
  return {exact.begin(), exact.end()};
}

RotaryTable rotary_table(const RopeConfig& config, std::span<const std::int64_t> positions, std::int64_t length) {
  const std::vector<float> frequencies = inverse_frequencies(config, length);
  RotaryTable table = empty_table(config, static_cast<std::int64_t>(positions.size()));
  RowWriter rows{table.cos.mutable_data<float>(), table.sin.mutable_data<float>()};
  rows.write(positions, frequencies, config.scaling.magnitude);
  return table;
}

RotaryTable rotary_table(const RopeConfig& config, const Batch& batch) {
  const auto positions = batch.positions.values<std::int64_t>();
  if (!config.scaling.depends_on_length()) return rotary_table(config, positions);
  RotaryTable table = empty_table(config, batch.tokens());
  RowWriter rows{table.cos.mutable_data<float>(), table.sin.mutable_data<float>()};
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    const auto own = positions.subspan(static_cast<std::size_t>(batch.offsets.begin(s)),
                                       static_cast<std::size_t>(batch.offsets.length(s)));
    rows.write(own, inverse_frequencies(config, batch.planned_length(s)), config.scaling.magnitude);
  }
  return table;
}

RotaryTable to_type(const RotaryTable& table, DType type) {
  if (table.cos.dtype() == type) return table;
  return {table.cos.to(type), table.sin.to(type), table.pairing};
}

}  // namespace attune
