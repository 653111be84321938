#include "attune/nn/attention/recurrent_memory.h"

#include "attune/nn/attention/family.h"

namespace attune {

namespace {

const RegisterFamily recurrent_memory({
    .name = "recurrent_memory",
    .paper = "Bulatov et al. 2022, Recurrent memory transformer",
    .writes_text = false,
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights& w) -> FamilyParts {
      RecurrentMemorySizes sizes{
          .segment = config.integer_or("segment", 128, {.at_least = 1, .at_most = 1 << 20}),
          .memory_tokens = config.integer_or("memory_tokens", 16, {.at_least = 1, .at_most = 4096}),
          .hidden_size = use.hidden_size,
          .causal = use.causal};
      FamilyParts parts{.rule = {.mask = use.causal ? causal() : bidirectional()}};
      // One memory for the whole stack.
      if (use.layer == 0) parts.recurrence = std::make_shared<RecurrentMemory>(w, sizes);
      return parts;
    },
});

}  // namespace

}  // namespace attune
