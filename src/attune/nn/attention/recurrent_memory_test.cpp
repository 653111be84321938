#include "attune/nn/attention/recurrent_memory.h"

#include <gtest/gtest.h>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/conformance/conformance.h"
#include "attune/nn/block/block.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/view.h"

namespace attune {
namespace {

using conformance::random_tensor;
using conformance::same_bits;

constexpr std::int64_t hidden = 12, heads = 2;

/// Two blocks of a decoder or an encoder under a recurrent memory.
struct Small {
  explicit Small(bool causal_stack, std::int64_t segment = 4, DType type = DType::F32)
      : set({.checkpoint = nullptr, .initial = {7, 0, 0}, .trainable = true, .type = type}, {}),
        memory(Weights(set), {.segment = segment, .memory_tokens = 2, .hidden_size = hidden, .causal = causal_stack}) {
    Weights w(set);
    LinearOptions dense{.deviation = 0.3};
    for (int i = 0; i < 2; ++i) {
      Weights l = w / i;
      blocks.push_back({.attention = {.query = Linear(l / "q", hidden, hidden, dense),
                                      .key = Linear(l / "k", hidden, hidden, dense),
                                      .value = Linear(l / "v", hidden, hidden, dense),
                                      .output = Linear(l / "o", hidden, hidden, dense),
                                      .sizes = {heads, heads, hidden / heads},
                                      .rule = {.mask = causal_stack ? causal() : bidirectional()}},
                        .attention_norm = Norm::layer(l / "n1", hidden, 1e-5),
                        .feedforward = {.up = Linear(l / "up", hidden, 2 * hidden, dense),
                                        .down = Linear(l / "down", 2 * hidden, hidden, dense),
                                        .activation = Activation::gelu},
                        .feedforward_norm = Norm::layer(l / "n2", hidden, 1e-5),
                        .place = {Stack::decoder, i}});
    }
  }
  Tensor stack(Tensor x, const Batch& batch) const {
    for (const Block& block : blocks) x = block(x, batch, nullptr);
    return x;
  }
  Tensor operator()(const Tensor& x, const Batch& batch) const {
    return memory(x, batch, [this](const Tensor& in, const Batch& b) { return stack(in, b); });
  }

  ParameterSet set;
  RecurrentMemory memory;
  std::vector<Block> blocks;
};

Batch batch_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::vector<std::int64_t>> ids;
  for (std::int64_t n : lengths) ids.emplace_back(static_cast<std::size_t>(n), 0);
  return Batch::of(ids, 5);
}

TEST(RecurrentMemory, IsTheLoopOfThePaperOverSegments) {
  // One sequence, written out: [memory; segment; memory] through the blocks, the last rows handed on.
  Small small(true, 4, DType::F64);
  const Tensor x = random_tensor({10, hidden}).to(DType::F64);
  const Tensor got = small(x, batch_of({10}));
  Tensor memory = small.set.find("memory")->value.detached();
  for (std::int64_t begin = 0; begin < 10; begin += 4) {
    const std::int64_t end = std::min<std::int64_t>(10, begin + 4), rows = end - begin + 4;
    const Tensor y = small.stack(concatenate_rows({memory, x.rows(begin, end), memory}), batch_of({rows})).detached();
    EXPECT_LT(conformance::relative_difference(got.detached().rows(begin, end), y.rows(2, 2 + end - begin)), 1e-12);
    memory = y.rows(rows - 2, rows).clone();
  }
}

TEST(RecurrentMemory, GradientOfTheSecondSegmentReachesTheFirstThroughMemoryAlone) {
  Small small(true);
  const Tensor x = require_gradient(random_tensor({8, hidden}));
  const Tensor y = small(x, batch_of({8}));
  backward(sum(multiply(row_range(y, 4, 8), random_tensor({4, hidden}, 3))));
  const Tensor dx = gradient_of(x);
  ASSERT_TRUE(dx.defined());
  for (std::int64_t t = 0; t < 8; ++t) {
    double size = 0;
    for (float g : dx.rows(t, t + 1).to_vector<float>()) size += std::abs(g);
    EXPECT_GT(size, 1e-6) << "token " << t;
  }
  double size = 0;
  for (float g : gradient_of(small.set.find("memory")->value).to_vector<float>()) size += std::abs(g);
  EXPECT_GT(size, 1e-6);
}

TEST(RecurrentMemory, NoTokenSeesALaterOne) {
  Small small(true);
  const Tensor x = random_tensor({11, hidden});
  const Tensor before = small(x, batch_of({11})).detached();
  for (std::int64_t t : {0, 3, 4, 6, 9}) {
    Tensor changed = x.clone();
    for (std::int64_t c = 0; c < hidden; ++c) changed.mutable_data<float>()[(t + 1) * hidden + c] += 3;
    const Tensor after = small(changed, batch_of({11})).detached();
    EXPECT_TRUE(same_bits(after.rows(0, t + 1), before.rows(0, t + 1))) << t;
    EXPECT_FALSE(same_bits(after.rows(t + 1, 11), before.rows(t + 1, 11))) << t;
  }
}

TEST(RecurrentMemory, EncoderSeesItsWholeSegmentAndThePastThroughMemory) {
  Small small(false);
  const Tensor x = random_tensor({8, hidden});
  const Tensor before = small(x, batch_of({8})).detached();
  Tensor changed = x.clone();
  changed.mutable_data<float>()[3 * hidden] += 3;
  const Tensor after = small(changed, batch_of({8})).detached();
  EXPECT_FALSE(same_bits(after.rows(0, 1), before.rows(0, 1)));
  EXPECT_FALSE(same_bits(after.rows(7, 8), before.rows(7, 8)));
  changed = x.clone();
  changed.mutable_data<float>()[4 * hidden] += 3;  // the next segment
  EXPECT_TRUE(same_bits(small(changed, batch_of({8})).detached().rows(0, 4), before.rows(0, 4)));
}

TEST(RecurrentMemory, SequenceAloneHasTheBitsOfTheBatchWhateverTheThreads) {
  Small small(true);
  const std::vector<std::int64_t> lengths = {9, 0, 4, 1, 13, 5};
  const Batch batch = batch_of(lengths);
  const Tensor x = random_tensor({batch.tokens(), hidden});
  const Tensor together = small(x, batch).detached();
  const int threads = num_threads();
  for (int n : {1, 3}) {
    set_num_threads(n);
    EXPECT_TRUE(same_bits(small(x, batch).detached(), together));
  }
  set_num_threads(threads);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    const std::int64_t begin = batch.offsets.begin(static_cast<std::int64_t>(i)), end = begin + lengths[i];
    EXPECT_TRUE(same_bits(small(x.rows(begin, end), batch_of({lengths[i]})).detached(), together.rows(begin, end)));
  }
}

TEST(RecurrentMemory, DropoutOfATokenDoesNotDependOnTheBatch) {
  Small small(true);
  for (Block& block : small.blocks) block.dropout = block.attention.dropout = 0.3;
  Batch both = batch_of({7, 9}), second = batch_of({9});
  second.examples = {6};
  second.places = TokenPlaces::of(std::vector<std::int64_t>(9, 6), {0, 1, 2, 3, 4, 5, 6, 7, 8});
  both.dropout = second.dropout = RandomKey{1, 2, 3};
  const Tensor x = random_tensor({16, hidden});
  EXPECT_TRUE(same_bits(small(x, both).detached().rows(7, 16), small(x.rows(7, 16), second).detached()));
}

TEST(RecurrentMemory, OneSegmentOfTheRightWidthIsAskedFor) {
  Small small(true);
  EXPECT_THROW(small(random_tensor({8, hidden + 1}), batch_of({8})), Error);
  EXPECT_THROW(small(random_tensor({7, hidden}), batch_of({8})), Error);
}

}  // namespace
}  // namespace attune
