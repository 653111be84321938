// Radford et al. 2019; Vaswani et al. 2017, section 3.2.3: a position may attend to itself and to what came before.
#include "attune/workflows/demo/attention_parts.h"
#include "attune/workflows/demo/demo.h"

namespace attune {

DemoResult demo_future(std::uint64_t seed, const Run&) {
  constexpr std::int64_t tokens = 32, changed = 20;
  Tensor x = demo_values({tokens, 4, 16}, seed, "demo future"), other = x.clone();
  copy_into(demo_values({tokens - changed, 4, 16}, seed + 1, "demo other future"), other.rows(changed, tokens));
  auto leak = [&](const AttentionMask& mask) {
    return largest_difference(demo_self_attention(x, mask).rows(0, changed),
                              demo_self_attention(other, mask).rows(0, changed));
  };
  double causal_leak = leak(causal()), open_leak = leak(bidirectional());
  return {.claim = "with the causal mask, other words from position 20 on change not one bit of the outputs before it",
          .figures = {{"largest change before position 20, causal", causal_leak},
                      {"largest change before position 20, bidirectional", open_leak}},
          .holds = causal_leak == 0 && open_leak > 0.001};
}

}  // namespace attune
