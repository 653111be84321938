// Vaswani et al. 2017, section 3.5: with no recurrence and no convolution, only positions tell the model about order.
#include <numeric>

#include "attune/nn/position/sinusoidal.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/view.h"
#include "attune/workflows/demo/attention_parts.h"
#include "attune/workflows/demo/demo.h"

namespace attune {

namespace {

Tensor permuted(const Tensor& x, const std::vector<std::int64_t>& order) {
  return select_rows(x, Tensor::from<std::int64_t>({static_cast<std::int64_t>(order.size())}, order));
}

}  // namespace

DemoResult demo_permutation(std::uint64_t seed, const Run&) {
  constexpr std::int64_t tokens = 24, heads = 4, head_dim = 16;
  Tensor x = demo_values({tokens, heads, head_dim}, seed, "demo permutation");
  std::vector<std::int64_t> order(tokens);
  std::iota(order.begin(), order.end(), 0);
  RandomStream random(RandomKey{.seed = seed}.at("demo order"));
  random.shuffle(order);
  Tensor positions =
      sinusoidal_table(tokens, heads * head_dim, SinusoidalLayout::interleaved).as_shape({tokens, heads, head_dim});
  auto attend = [&](const Tensor& in, bool with_positions) {
    return demo_self_attention(with_positions ? add(in, positions) : in, bidirectional());
  };
  double without = largest_difference(attend(permuted(x, order), false), permuted(attend(x, false), order));
  double with = largest_difference(attend(permuted(x, order), true), permuted(attend(x, true), order));
  return {.claim = "shuffling the words shuffles the outputs and changes nothing else; positions end that",
          .figures = {{"largest difference to the shuffled output, without positions", without},
                      {"largest difference to the shuffled output, with sinusoidal positions", with}},
          .holds = without < 1e-5 && with > 0.01};
}

}  // namespace attune
