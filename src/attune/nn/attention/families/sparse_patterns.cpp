// Families that are attention() with another mask: each token sees some of the others, exactly. They are decoded with a
// cache like full attention, and sizes are in tokens.
#include <fmt/format.h>

#include "attune/nn/attention/family.h"
#include "attune/ops/attention_masks.h"

namespace attune {

namespace {

constexpr ConfigRange tokens{.at_least = 0, .at_most = 1 << 30}, at_least_one{.at_least = 1, .at_most = 1 << 30};

struct BlockUse {
  std::int64_t block, longest;
  ConfigRange range;
};

/// The pattern as a rule: in a decoder without later tokens.
FamilyParts pattern(const AttentionMask& mask, const FamilyUse& use) {
  return {.rule = {.mask = use.causal ? causal() & mask : mask}};
}

/// A count of blocks. Throws Error where it is more than the longest sequence has.
std::int64_t blocks_of(const ConfigReader& config, const char* key, std::int64_t otherwise, const BlockUse& use) {
  const std::int64_t count = config.integer_or(key, otherwise, use.range);
  const std::int64_t most = (use.longest + use.block - 1) / use.block;
  if (use.longest > 0 && config.has(key) && count > most)
    config.reject(key, fmt::format("a sequence of {} tokens (the model's max_position_embeddings) has {} blocks of {} "
                                   "(\"block\"): expected at most as many, or smaller blocks",
                                   use.longest, most, use.block));
  return count;
}

/// "one_sided": the keys that a token sees before it, and in an encoder as many after it.
std::int64_t one_sided(const ConfigReader& config) { return config.integer_or("one_sided", 128, at_least_one); }

const RegisterFamily local({
    .name = "window",
    .paper = "Beltagy et al. 2020, Longformer, section 3.1: sliding and dilated windows",
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights&) -> FamilyParts {
      const std::int64_t side = one_sided(config), dilation = config.integer_or("dilation", 1, at_least_one);
      return pattern(dilation == 1 ? window(side, side) : dilated(side, side, dilation), use);
    },
});

const RegisterFamily with_globals({
    .name = "longformer",
    .paper = "Beltagy et al. 2020, Longformer",
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights&) -> FamilyParts {
      const std::int64_t side = one_sided(config);
      return pattern(longformer(side, config.integer_or("global_tokens", 1, tokens)), use);
    },
});

const RegisterFamily blocks({
    .name = "bigbird",
    .paper = "Zaheer et al. 2020, Big Bird",
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights&) -> FamilyParts {
      BigBirdBlocks b;
      b.block = config.integer_or("block", b.block, at_least_one);
      const BlockUse any{b.block, use.longest, {.at_least = 0, .at_most = 65536}},
          odd{b.block, use.longest, {1, 65535}};
      b.window_blocks = blocks_of(config, "window_blocks", b.window_blocks, odd);
      b.global_blocks = blocks_of(config, "global_blocks", b.global_blocks, any);
      b.random_blocks = blocks_of(config, "random_blocks", b.random_blocks, any);
      b.seed = static_cast<std::uint64_t>(config.integer_or("seed", 1, {.at_least = 0}));
      if (b.window_blocks % 2 == 0)
        config.reject("window_blocks", "must be odd: the token's own block and as many beside");
      // Layers that draw their own blocks see more of the sequence together.
      b.seed += static_cast<std::uint64_t>(use.layer) << 32;
      b.causal = use.causal;
      return pattern(bigbird(b), use);
    },
});

const RegisterFamily fixed_stride({
    .name = "strided",
    .paper = "Child et al. 2019, Sparse Transformers, section 4.3",
    .in_encoder = false,
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights&) -> FamilyParts {
      return pattern(strided(config.integer_or("stride", 128, at_least_one)), use);
    },
});

const RegisterFamily streaming({
    .name = "streaming",
    .paper = "Xiao et al. 2023, StreamingLLM: the first tokens, and a window",
    .in_encoder = false,
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights&) -> FamilyParts {
      const std::int64_t side = one_sided(config);
      return pattern(window(side, 0) | first_keys(config.integer_or("first_keys", 4, tokens)), use);
    },
});

}  // namespace

}  // namespace attune
