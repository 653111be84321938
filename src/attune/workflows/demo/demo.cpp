#include "attune/workflows/demo/demo.h"

namespace attune {

const std::vector<Demo>& demos() {
  static const std::vector<Demo> all = {
      {"scale", "why scores are divided by sqrt(d_k)", demo_scale},
      {"permutation", "attention without positions does not know the order of words", demo_permutation},
      {"future", "the causal mask hides the future", demo_future},
      {"cost", "attention's cost grows with the square of the length", demo_cost},
      {"block", "one block is an encoder, a decoder and an encoder-decoder", demo_block},
  };
  return all;
}

}  // namespace attune
