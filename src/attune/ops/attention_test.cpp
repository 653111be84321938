#include "attune/ops/attention.h"

#include <cmath>
#include <limits>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/attention_cases.h"
#include "attune/tensor/storage.h"

namespace attune {
namespace {

using conformance::expect_agrees;
using conformance::random_tensor;
using conformance::same_bits;

AttentionSequences self(const std::vector<std::int64_t>& lengths) {
  std::vector<std::pair<std::int64_t, std::int64_t>> both;
  for (std::int64_t n : lengths) both.push_back({n, n});
  return sequences_of(both);
}

struct Heads {
  std::int64_t q = 1, kv = 1, width = 4, value_width = 4;
};

std::vector<Tensor> inputs_of(const AttentionSequences& s, const Heads& h, double scale = 1) {
  return {random_tensor({s.queries.total(), h.q, h.width}, 1, scale),
          random_tensor({s.keys.total(), h.kv, h.width}, 2, scale),
          random_tensor({s.keys.total(), h.kv, h.value_width}, 3, scale)};
}

void expect_attention_agrees(const AttentionSequences& s, const Heads& h, const AttentionRule& rule) {
  expect_agrees({.run = [=](auto in) { return attention(in[0], in[1], in[2], s, rule); }, .inputs = inputs_of(s, h)});
}

const std::vector<Heads> odd_heads = {{1, 1, 1, 1}, {2, 2, 8, 8}, {4, 2, 33, 19}, {6, 1, 16, 40}, {3, 3, 64, 64}};

CONFORMANCE(attention) {
  // Lengths around the vector widths and around a block of 64 keys. One token alone is OneTokenIsItsOwnValue's: its
  // gradients are 0, which no relative difference can be held against.
  for (AttentionMask mask : {bidirectional(), causal()}) {
    for (float rate : {0.0f, 0.3f}) {
      const AttentionRule rule = {.mask = mask, .dropout = {rate, {7, 1, 3}}};
      for (const Heads& h : odd_heads)
        for (const AttentionSequences& s :
             {self({0}), self({1, 0, 5, 0}), sequences_of({{3, 9}, {9, 3}, {0, 4}, {4, 0}, {17, 1}})})
          expect_attention_agrees(s, h, rule);
      expect_attention_agrees(self({66, 2}), {2, 1, 9, 17}, rule);
      expect_attention_agrees(sequences_of({{1, 130}, {10, 64}}), {4, 2, 33, 19}, rule);
    }
  }
}

CONFORMANCE(attention_head_dims) {
  // From 8 to 256, multiples of vectors and not, values of another width than keys.
  std::vector<std::int64_t> widths = {9, 31, 77, 129, 191, 255};
  for (std::int64_t width = 8; width <= 256; width += width < 64 ? 8 : 64) widths.push_back(width);
  for (std::int64_t width : widths) {
    SCOPED_TRACE(width);
    expect_attention_agrees(self({70, 3}), {2, 1, width, 264 - width}, {.mask = causal()});
  }
}

CONFORMANCE(attention_positions) {
  AttentionSequences s = sequences_of({{3, 20}, {4, 9}, {2, 5}});
  s.first_positions = {0, 5, -1};
  for (const Heads& h : odd_heads)
    expect_attention_agrees(s, h, {.mask = causal(), .scale = 0.7, .dropout = {0.1f, {2, 2, 2}}});
}

CONFORMANCE(attention_weights) {
  AttentionSequences s = sequences_of({{3, 9}, {70, 130}, {9, 3}});
  for (const Heads& h : odd_heads)
    for (AttentionMask mask : {bidirectional(), causal()})
      for (std::int64_t i : {0, 1, 2})
        expect_agrees({.run =
                           [=](auto in) {
                             return attention_weights(in[0], in[1], s, {.mask = mask}, {i, 1, s.queries.length(i)});
                           },
                       .inputs = {inputs_of(s, h)[0], inputs_of(s, h)[1]},
                       .gradient = false});
}

TEST(Attention, SequenceAloneHasTheBitsOfTheBatch) {
  const AttentionSequences batch = sequences_of({{70, 70}, {0, 3}, {1, 1}, {5, 200}, {3, 0}, {64, 64}, {200, 193}});
  const Heads h = {6, 2, 32, 24};
  const std::vector<Tensor> in = inputs_of(batch, h);
  const Tensor dy = random_tensor({batch.queries.total(), h.q, h.value_width}, 9);
  for (AttentionMask mask : {bidirectional(), causal()}) {
    for (float rate : {0.0f, 0.25f}) {
      const AttentionRule rule = {.mask = mask, .dropout = {rate, {4, 5, 6}}};
      const EvaluatedAttention whole(in, batch, rule, dy);
      for (std::int64_t i = 0; i < batch.queries.count(); ++i) {
        const std::int64_t qb = batch.queries.begin(i), qe = batch.queries.end(i), kb = batch.keys.begin(i),
                           ke = batch.keys.end(i);
        const AttentionSequences alone = {Offsets::single(qe - qb), Offsets::single(ke - kb), {}, {100 + i}};
        const EvaluatedAttention one(
            {in[0].rows(qb, qe).clone(), in[1].rows(kb, ke).clone(), in[2].rows(kb, ke).clone()}, alone, rule,
            dy.rows(qb, qe).clone());
        EXPECT_TRUE(same_bits(one.y, whole.y.rows(qb, qe))) << i;
        EXPECT_TRUE(same_bits(one.dq, whole.dq.rows(qb, qe))) << i;
        EXPECT_TRUE(same_bits(one.dk, whole.dk.rows(kb, ke))) << i;
        EXPECT_TRUE(same_bits(one.dv, whole.dv.rows(kb, ke))) << i;
      }
    }
  }
}

TEST(Attention, QueryAloneHasTheBitsItHasAmongOthers) {
  const std::int64_t n = 133;
  const Heads h = {4, 2, 20, 20};
  const std::vector<Tensor> in = inputs_of(self({n}), h);
  const Tensor whole = attention(in[0], in[1], in[2], self({n}), {.mask = causal()});
  for (std::int64_t i : {0, 1, 63, 64, 100, 132}) {
    // Once with the keys so far, as a cache has them; once among all keys, by its position.
    const Tensor query = in[0].rows(i, i + 1);
    const Tensor so_far =
        attention(query, in[1].rows(0, i + 1), in[2].rows(0, i + 1), sequences_of({{1, i + 1}}), {.mask = causal()});
    EXPECT_TRUE(same_bits(so_far, whole.rows(i, i + 1))) << i;
    AttentionSequences placed = sequences_of({{1, n}});
    placed.first_positions = {i};
    EXPECT_TRUE(same_bits(attention(query, in[1], in[2], placed, {.mask = causal()}), whole.rows(i, i + 1))) << i;
  }
}

TEST(Attention, ThreadsThatShareALongSequenceGiveTheBitsOfOne) {
  // One key head and keys of three chunks: the threads divide the chunks.
  const std::int64_t n = 1300;
  const Heads h = {2, 1, 8, 8};
  const std::vector<Tensor> in = inputs_of(self({n}), h);
  const Tensor dy = random_tensor({n, h.q, h.value_width}, 9);
  const int before = num_threads();
  std::vector<EvaluatedAttention> by_threads;
  for (int threads : {1, 2, 3, 5}) {
    set_num_threads(threads);
    by_threads.push_back(EvaluatedAttention(in, self({n}), {.mask = causal() & window(900, 0)}, dy));
  }
  set_num_threads(before);
  for (const EvaluatedAttention& other : by_threads) {
    EXPECT_TRUE(same_bits(other.y, by_threads[0].y));
    EXPECT_TRUE(same_bits(other.dq, by_threads[0].dq));
    EXPECT_TRUE(same_bits(other.dk, by_threads[0].dk));
    EXPECT_TRUE(same_bits(other.dv, by_threads[0].dv));
  }
}

TEST(Attention, MemoryGrowsWithTheLengthAlone) {
  // Forward and backward: what is in use at most, over what the inputs and results take.
  auto peak = [](std::int64_t n) {
    const std::vector<Tensor> in = inputs_of(self({n}), {2, 2, 32, 32});
    const Tensor dy = random_tensor({n, 2, 32}, 9);
    reset_peak_in_use();
    const std::int64_t before = allocator_statistics().bytes_in_use;
    EvaluatedAttention(in, self({n}), {.mask = causal()}, dy);
    return static_cast<double>(allocator_statistics().peak_in_use - before);
  };
  const double one = peak(1000), four = peak(4000);
  EXPECT_LT(four, 4.2 * one);
  EXPECT_LT(four, 4000 * 2 * 32 * sizeof(float) * 8.0);  // scores of one head alone would take 15 times as much
}

TEST(Attention, SlicesOfAFusedProjectionNeedNoCopy) {
  const AttentionSequences s = self({30, 7, 65});
  const std::int64_t tokens = s.queries.total();
  const Tensor fused = random_tensor({tokens, 3 * 2 * 16}), dy = random_tensor({tokens, 2, 16}, 9);
  std::vector<Tensor> slices, copies;
  for (std::int64_t i : {0, 1, 2}) {
    slices.push_back(fused.slice(1, i * 32, (i + 1) * 32).as_shape({tokens, 2, 16}));
    copies.push_back(slices.back().clone());
    EXPECT_EQ(slices.back().stride(0), 96);
  }
  const EvaluatedAttention seen(slices, s, {.mask = causal()}, dy), apart(copies, s, {.mask = causal()}, dy);
  EXPECT_TRUE(same_bits(seen.y, apart.y));
  EXPECT_TRUE(same_bits(seen.dq, apart.dq));
  EXPECT_TRUE(same_bits(seen.dk, apart.dk));
  EXPECT_TRUE(same_bits(seen.dv, apart.dv));
}

TEST(Attention, OneTokenIsItsOwnValue) {
  const std::vector<Tensor> in = inputs_of(self({1}), {2, 2, 16, 24});
  const Tensor dy = random_tensor({1, 2, 24}, 9);
  const EvaluatedAttention e(in, self({1}), {.mask = causal()}, dy);
  EXPECT_TRUE(same_bits(e.y, in[2]));
  EXPECT_TRUE(same_bits(e.dv, dy));
  for (const Tensor& gradient : {e.dq, e.dk})
    for (float value : gradient.to_vector<float>()) EXPECT_NEAR(value, 0, 1e-5);
}

TEST(Attention, RowThatSeesNothingGivesZerosAndNoGradient) {
  const AttentionSequences s = sequences_of({{5, 2}, {3, 0}});
  const std::vector<Tensor> in = inputs_of(s, {2, 2, 8, 8});
  const EvaluatedAttention e(in, s, {.mask = causal()}, random_tensor({8, 2, 8}, 9));
  for (auto [begin, end] :
       {std::pair<int, int>{0, 3}, {5, 8}}) {  // queries at positions -3 to -1, and those without keys
    for (float value : e.y.rows(begin, end).to_vector<float>()) EXPECT_EQ(value, 0);
    for (float value : e.dq.rows(begin, end).to_vector<float>()) EXPECT_EQ(value, 0);
  }
  for (float value : e.dk.to_vector<float>()) EXPECT_TRUE(std::isfinite(value));
}

TEST(Attention, CausalMaskHidesTheFuture) {
  const std::int64_t n = 100, cut = 37;
  std::vector<Tensor> in = inputs_of(self({n}), {2, 2, 16, 16});
  const Tensor before = attention(in[0], in[1], in[2], self({n}), {.mask = causal()});
  for (int i : {1, 2}) {
    std::vector<float> values = in[static_cast<std::size_t>(i)].to_vector<float>();
    std::fill(values.begin() + cut * 2 * 16, values.end(), std::numeric_limits<float>::quiet_NaN());
    in[static_cast<std::size_t>(i)] = Tensor::from<float>({n, 2, 16}, values);
  }
  const Tensor after = attention(in[0], in[1], in[2], self({n}), {.mask = causal()});
  EXPECT_TRUE(same_bits(after.rows(0, cut), before.rows(0, cut)));
  for (float value : after.rows(cut, n).to_vector<float>()) EXPECT_TRUE(std::isnan(value));
}

TEST(Attention, ExtremeScoresAreRight) {
  // Scores of -10000, 0 and 10000, whose exponentials neither type can hold; then equal ones of 10000.
  const Tensor q = Tensor::from<float>({2, 1, 1}, std::vector<float>{100, 100});
  const Tensor k = Tensor::from<float>({5, 1, 1}, std::vector<float>{-100, 0, 100, 100, 100});
  const Tensor v = Tensor::from<float>({5, 1, 1}, std::vector<float>{1, 2, 3, 5, 7});
  const AttentionSequences s = {Offsets::from_lengths(std::vector<std::int64_t>{1, 1}),
                                Offsets::from_lengths(std::vector<std::int64_t>{3, 2})};
  const EvaluatedAttention e({q, k, v}, s, {.scale = 1.0}, Tensor::full({2, 1, 1}, 1));
  EXPECT_EQ(e.y.to_vector<float>(), (std::vector<float>{3, 6}));
  EXPECT_EQ(e.dv.to_vector<float>(), (std::vector<float>{0, 0, 1, 0.5f, 0.5f}));
  EXPECT_EQ(e.dq.to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST(Attention, DropoutDropsItsShareAndKeepsTheMean) {
  // All weights are 1/keys and all values 1: y is the share kept / (1 - rate).
  const std::int64_t n = 200;
  AttentionSequences s = self({n});
  const Tensor zeros = Tensor::zeros({n, 2, 4}), ones = Tensor::full({n, 2, 4}, 1);
  const Tensor y = attention(zeros, zeros, ones, s, {.dropout = {0.25f, {1, 2, 3}}});
  double sum = 0;
  for (float value : y.to_vector<float>()) sum += value;
  EXPECT_NEAR(sum / static_cast<double>(y.numel()), 1, 0.01);  // 80,000 draws: deviation 0.002
  EXPECT_FALSE(same_bits(y, attention(zeros, zeros, ones, s, {.dropout = {0.25f, {1, 3, 3}}})));
  s.examples = {101};
  EXPECT_FALSE(same_bits(y, attention(zeros, zeros, ones, s, {.dropout = {0.25f, {1, 2, 3}}})));
}

TEST(Attention, WrongShapesAreNamed) {
  const Tensor x = Tensor::zeros({4, 2, 8});
  EXPECT_THROW(attention(x, Tensor::zeros({4, 2, 7}), x, self({4}), {}), Error);
  EXPECT_THROW(attention(Tensor::zeros({4, 3, 8}), x, x, self({4}), {}), Error);
  EXPECT_THROW(attention(x, x, x, self({5}), {}), Error);
  EXPECT_THROW(attention(x, x, x, AttentionSequences::of(Offsets::single(4)), {.dropout = {0.1f, {}}}), Error);
  EXPECT_THROW(attention(x, x, x, self({4}), {.dropout = {1.0f, {}}}), Error);
  EXPECT_THROW(attention_weights(x, x, self({4}), {}, {0, 2, 5}), Error);
  EXPECT_THROW(attention_weights(require_gradient(x), x, self({4}), {}, {0, 0, 1}), Error);
}

}  // namespace
}  // namespace attune
