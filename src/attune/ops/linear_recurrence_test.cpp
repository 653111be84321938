#include "attune/ops/linear_recurrence.h"

#include <cmath>
#include <limits>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/conformance/conformance.h"
#include "attune/tensor/allocator.h"

namespace attune {
namespace {

using conformance::expect_agrees;
using conformance::random_tensor;
using conformance::relative_difference;
using conformance::same_bits;

struct Heads {
  std::int64_t q = 1, kv = 1, width = 4, value_width = 4;
};
const std::vector<Heads> odd_heads = {{1, 1, 1, 1}, {2, 2, 8, 8}, {4, 2, 33, 19}, {6, 1, 16, 40}, {3, 3, 64, 64}};

enum class Decay { none, head, token };

/// Values above 0, so that no divisor is near 0.
Tensor positive(const Shape& shape, std::uint64_t seed) {
  Tensor x = random_tensor(shape, seed);
  for (float& value : x.mutable_values<float>()) value = 0.1f + std::abs(value);
  return x;
}
/// Logarithms of decays: below 0, of mean -strength.
Tensor logs(const Shape& shape, double strength, std::uint64_t seed = 4) {
  Tensor x = random_tensor(shape, seed);
  for (float& value : x.mutable_values<float>()) value = -static_cast<float>(strength) * std::abs(value) * 1.25f;
  return x;
}

std::vector<Tensor> inputs_of(std::int64_t tokens, const Heads& h, Decay decay, double strength, bool normalised) {
  std::vector<Tensor> in = {random_tensor({tokens, h.q, h.width}, 1), random_tensor({tokens, h.kv, h.width}, 2),
                            random_tensor({tokens, h.kv, h.value_width}, 3)};
  if (normalised) in[0] = positive(in[0].shape(), 1), in[1] = positive(in[1].shape(), 2);
  if (decay == Decay::head) in.push_back(logs({h.kv}, strength));
  if (decay == Decay::token) in.push_back(logs(in[1].shape(), strength));
  return in;
}

RecurrenceRule with_decay(RecurrenceRule rule, std::span<const Tensor> in) {
  if (in.size() > 3) rule.log_decay = in[3];
  return rule;
}

void expect_recurrence_agrees(const std::vector<std::int64_t>& lengths, const Heads& h, Decay decay, double strength,
                              const RecurrenceRule& rule) {
  const Offsets s = Offsets::from_lengths(lengths);
  expect_agrees({.run = [=](auto in) { return linear_recurrence(in[0], in[1], in[2], s, with_decay(rule, in)); },
                 .inputs = inputs_of(s.total(), h, decay, strength, rule.normalised)});
}

CONFORMANCE(linear_recurrence) {
  // Lengths around the vector widths, one chunk and several, beginning to end.
  for (const Heads& h : odd_heads)
    for (bool normalised : {false, true})
      for (bool causal : {true, false}) {
        if (normalised && h.width == 1) continue;  // one value cancels against itself: the gradient of q is 0
        const RecurrenceRule rule = {.causal = causal, .normalised = normalised, .scale = 0.7};
        expect_recurrence_agrees({0}, h, Decay::none, 0, rule);
        expect_recurrence_agrees({2, 0, 5, 0}, h, Decay::none, 0, rule);
        expect_recurrence_agrees({17, 49, 3}, h, Decay::none, 0, rule);
      }
  for (Decay decay : {Decay::head, Decay::token})
    for (bool normalised : {false, true}) {
      const RecurrenceRule rule = {.normalised = normalised, .scale = 1.3};
      for (const Heads& h : odd_heads)
        if (!normalised || h.width > 1) expect_recurrence_agrees({2, 0, 5, 50}, h, decay, 0.05, rule);
      // Beyond what a chunk's exponentials may hold, to where a token forgets all but itself (then the gradients of a
      // weight that is always 1 are nothing but rounding).
      for (double strength : {0.5, 3.0, 40.0})
        if (!normalised || strength < 40) expect_recurrence_agrees({3, 60}, {4, 2, 9, 5}, decay, strength, rule);
    }
  expect_recurrence_agrees({100, 1, 7}, {2, 1, 9, 17}, Decay::token, 0.1, {});
}

struct Evaluated {
  Tensor y;
  std::vector<Tensor> gradients;
};
Evaluated evaluate(const std::vector<Tensor>& in, const Offsets& s, const RecurrenceRule& rule, const Tensor& dy) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : in) leaves.push_back(require_gradient(x));
  Tensor y = linear_recurrence(leaves[0], leaves[1], leaves[2], s, with_decay(rule, leaves));
  backward(y, dy);
  std::vector<Tensor> gradients;
  for (const Tensor& x : leaves) gradients.push_back(gradient_of(x));
  return {y.detached(), gradients};
}

std::vector<Tensor> as_f64(const std::vector<Tensor>& in) {
  std::vector<Tensor> out;
  for (const Tensor& x : in) out.push_back(x.to(DType::F64));
  return out;
}

/// Several segments of kept states, which finite differences would take too long for.
TEST(LinearRecurrence, LongSequencesAgreeWithTheParallelForm) {
  const Offsets s = Offsets::from_lengths(std::vector<std::int64_t>{500, 385, 1});
  const Heads h = {2, 1, 16, 12};
  for (Decay decay : {Decay::none, Decay::head, Decay::token})
    for (bool normalised : {false, true})
      for (double strength : {0.01, 1.0}) {
        const RecurrenceRule rule = {.normalised = normalised, .scale = 0.25};
        const std::vector<Tensor> in = inputs_of(s.total(), h, decay, strength, normalised);
        const Tensor dy = random_tensor({s.total(), h.q, h.value_width}, 9);
        const Evaluated fast = evaluate(in, s, rule, dy), exact = evaluate(as_f64(in), s, rule, dy.to(DType::F64));
        EXPECT_LT(relative_difference(fast.y, exact.y), 1e-6);
        // A head's decay is reached by every token and value, with both signs: its one number may be small by chance.
        for (std::size_t i = 0; i < in.size(); ++i)
          EXPECT_LT(relative_difference(fast.gradients[i], exact.gradients[i]),
                    i == 3 && decay == Decay::head ? 1e-4 : 3e-6)
              << "input " << i << ", decay " << static_cast<int>(decay) << ", normalised " << normalised;
      }
}

TEST(LinearRecurrence, SequenceAloneHasTheBitsOfTheBatchOnAnyNumberOfThreads) {
  const Offsets s = Offsets::from_lengths(std::vector<std::int64_t>{70, 0, 1, 500, 48, 200});
  const Heads h = {6, 2, 32, 24};
  const int threads = num_threads();
  for (Decay decay : {Decay::none, Decay::token})
    for (bool causal : {true, false}) {
      if (!causal && decay != Decay::none) continue;
      const RecurrenceRule rule = {.causal = causal, .normalised = true};
      const std::vector<Tensor> in = inputs_of(s.total(), h, decay, 0.3, true);
      const Tensor dy = random_tensor({s.total(), h.q, h.value_width}, 9);
      const Evaluated whole = evaluate(in, s, rule, dy);
      for (int n : {1, 3}) {
        set_num_threads(n);
        for (std::int64_t i = 0; i < s.count(); ++i) {
          std::vector<Tensor> own;
          for (const Tensor& x : in) own.push_back(x.rows(s.begin(i), s.end(i)).clone());
          const Evaluated one =
              evaluate(own, Offsets::single(s.length(i)), rule, dy.rows(s.begin(i), s.end(i)).clone());
          EXPECT_TRUE(same_bits(one.y, whole.y.rows(s.begin(i), s.end(i)))) << i;
          for (std::size_t g = 0; g < in.size(); ++g)
            EXPECT_TRUE(same_bits(one.gradients[g], whole.gradients[g].rows(s.begin(i), s.end(i)))) << i << " " << g;
        }
      }
      set_num_threads(threads);
    }
}

/// The parallel form (f64), the chunked one (f32) and the recurrent one, in f64 and f32, token by token, in pieces and
/// going on from a chunked beginning.
TEST(LinearRecurrence, ParallelChunkedAndRecurrentFormsAgree) {
  const std::vector<std::int64_t> lengths = {131, 1, 60};
  const Offsets s = Offsets::from_lengths(lengths);
  const Heads h = {4, 2, 20, 13};
  for (Decay decay : {Decay::none, Decay::head, Decay::token})
    for (bool normalised : {false, true})
      for (double strength : {0.03, 2.0}) {
        const RecurrenceRule rule = {.normalised = normalised, .scale = 0.5};
        const std::vector<Tensor> in = inputs_of(s.total(), h, decay, strength, normalised);
        const std::vector<Tensor> in64 = as_f64(in);
        const Tensor parallel = linear_recurrence(in64[0], in64[1], in64[2], s, with_decay(rule, in64));
        const Tensor chunked = linear_recurrence(in[0], in[1], in[2], s, with_decay(rule, in));
        EXPECT_LT(relative_difference(chunked, parallel), 1e-6);

        // Sequence by sequence, in steps of `at_once` tokens.
        const auto recurrent = [&](const std::vector<Tensor>& x, std::int64_t at_once, std::int64_t begin_at) {
          Tensor y = Tensor::like(chunked).to(x[0].dtype());
          for (std::int64_t i = 0; i < s.count(); ++i) {
            const std::vector<Tensor> state = {recurrent_state(x[1], x[2], rule)};
            for (std::int64_t t = s.begin(i); t < s.end(i);) {
              const std::int64_t n = std::min(t == s.begin(i) ? begin_at : at_once, s.end(i) - t);
              RecurrenceRule now = rule;
              if (decay == Decay::head) now.log_decay = x[3];
              if (decay == Decay::token) now.log_decay = x[3].rows(t, t + n);
              copy_into(linear_recurrence_continue(x[0].rows(t, t + n), x[1].rows(t, t + n), x[2].rows(t, t + n),
                                                   Offsets::single(n), now, state),
                        y.rows(t, t + n));
              t += n;
            }
          }
          return y;
        };
        EXPECT_LT(relative_difference(recurrent(in64, 1, 1), parallel), 1e-12);
        EXPECT_LT(relative_difference(recurrent(in, 1, 1), parallel), 1e-6);
        EXPECT_LT(relative_difference(recurrent(in, 1, 100), parallel), 1e-6) << "steps after a chunked prefix";
        EXPECT_LT(relative_difference(recurrent(in, 30, 7), parallel), 1e-6);
      }
}

TEST(LinearRecurrence, StepOfASequenceHasTheBitsItHasAmongOthers) {
  const Heads h = {4, 2, 20, 13};
  const RecurrenceRule rule = {.normalised = true};
  const std::vector<Tensor> in = inputs_of(3, h, Decay::token, 0.3, true);
  std::vector<Tensor> all;
  for (int i = 0; i < 3; ++i) all.push_back(recurrent_state(in[1], in[2], rule));
  const Tensor y = linear_recurrence_continue(
      in[0], in[1], in[2], Offsets::from_lengths(std::vector<std::int64_t>(3, 1)), with_decay(rule, in), all);
  for (std::int64_t i : {0, 1, 2}) {
    std::vector<Tensor> own;
    for (const Tensor& x : in) own.push_back(x.rows(i, i + 1).clone());
    const std::vector<Tensor> state = {recurrent_state(own[1], own[2], rule)};
    EXPECT_TRUE(
        same_bits(linear_recurrence_continue(own[0], own[1], own[2], Offsets::single(1), with_decay(rule, own), state),
                  y.rows(i, i + 1)));
    EXPECT_TRUE(same_bits(state[0], all[static_cast<std::size_t>(i)]));
  }
}

TEST(LinearRecurrence, NoTokenSeesTheFuture) {
  const Heads h = {2, 2, 16, 16};
  for (Decay decay : {Decay::none, Decay::head, Decay::token}) {
    const std::vector<Tensor> in = inputs_of(150, h, decay, 0.1, true);
    const Tensor before =
        linear_recurrence(in[0], in[1], in[2], Offsets::single(150), with_decay({.normalised = true}, in));
    for (std::int64_t t : {0, 47, 48, 100, 148}) {
      std::vector<Tensor> changed;
      for (const Tensor& x : in) {
        changed.push_back(x.clone());
        if (x.rank() == 3)
          for (std::int64_t i = (t + 1) * x.dim(1) * x.dim(2); i < x.numel(); ++i)
            changed.back().mutable_values<float>()[static_cast<std::size_t>(i)] *= -3.0f;
      }
      const Tensor after = linear_recurrence(changed[0], changed[1], changed[2], Offsets::single(150),
                                             with_decay({.normalised = true}, changed));
      EXPECT_TRUE(same_bits(after.rows(0, t + 1), before.rows(0, t + 1))) << t;
    }
  }
}

TEST(LinearRecurrence, ADecayOfZeroBeginsAfresh) {
  const Heads h = {2, 2, 16, 8};
  std::vector<Tensor> in = inputs_of(90, h, Decay::token, 0.02, false);
  const std::int64_t reset = 37, row = h.kv * h.width;
  for (std::int64_t i = 0; i < row; ++i)
    in[3].mutable_values<float>()[static_cast<std::size_t>(reset * row + i)] = -std::numeric_limits<float>::infinity();
  std::vector<Tensor> rest;
  for (const Tensor& x : in) rest.push_back(x.rows(reset, 90).clone());
  const Tensor dy = random_tensor({90, h.q, h.value_width}, 9);
  const Evaluated whole = evaluate(in, Offsets::single(90), {}, dy);
  const Evaluated part = evaluate(rest, Offsets::single(90 - reset), {}, dy.rows(reset, 90).clone());
  EXPECT_LT(relative_difference(whole.y.rows(reset, 90), part.y), 2e-6);
  for (std::size_t i : {0, 1, 2})
    EXPECT_LT(relative_difference(whole.gradients[i].rows(reset, 90), part.gradients[i]), 1e-5);
  for (float g : whole.gradients[3].values<float>()) EXPECT_TRUE(std::isfinite(g));
}

TEST(LinearRecurrence, ADivisorOfZeroGivesZerosAndNoGradient) {
  const Tensor zeros = Tensor::zeros({5, 1, 4}), v = random_tensor({5, 1, 3});
  const Evaluated one =
      evaluate({zeros, zeros, v}, Offsets::single(5), {.normalised = true}, random_tensor({5, 1, 3}, 2));
  for (float value : one.y.values<float>()) EXPECT_EQ(value, 0.0f);
  for (const Tensor& gradient : one.gradients)
    for (float value : gradient.values<float>()) EXPECT_EQ(value, 0.0f);
}

TEST(LinearRecurrence, MemoryGrowsWithTheLengthAlone) {
  const Heads h = {2, 2, 32, 32};
  const auto peak = [&](std::int64_t n) {
    const std::vector<Tensor> in = inputs_of(n, h, Decay::token, 0.1, false);
    const Tensor dy = random_tensor({n, h.q, h.value_width}, 9);
    reset_peak_in_use();
    const std::int64_t before = allocator_statistics().bytes_in_use;
    evaluate(in, Offsets::single(n), {}, dy);
    return static_cast<double>(allocator_statistics().peak_in_use - before);
  };
  const double one = peak(1024), four = peak(4096);
  EXPECT_LT(four, 4.2 * one);
  EXPECT_LT(four, 4096 * 2 * 32 * sizeof(float) * 6.0);  // y, four gradients, and a state every 256 tokens
}

TEST(LinearRecurrence, SlicesOfAFusedProjectionNeedNoCopy) {
  const Tensor fused = random_tensor({50, 3 * 2 * 16}), dy = random_tensor({50, 2, 16}, 9);
  std::vector<Tensor> slices, copies;
  for (std::int64_t i : {0, 1, 2}) {
    slices.push_back(fused.slice(1, 32 * i, 32 * (i + 1)).as_shape({50, 2, 16}));
    copies.push_back(slices.back().contiguous());
  }
  const Evaluated a = evaluate(slices, Offsets::single(50), {}, dy), b = evaluate(copies, Offsets::single(50), {}, dy);
  EXPECT_TRUE(same_bits(a.y, b.y));
  for (std::size_t i : {0, 1, 2}) EXPECT_TRUE(same_bits(a.gradients[i], b.gradients[i]));
}

TEST(LinearRecurrence, WhatDoesNotFitIsAnError) {
  const Tensor q = random_tensor({6, 2, 4}), v = random_tensor({6, 2, 5});
  const Offsets s = Offsets::single(6);
  EXPECT_THROW(linear_recurrence(q, q, v, Offsets::single(5), {}), Error);
  EXPECT_THROW(linear_recurrence(q, random_tensor({6, 2, 3}), v, s, {}), Error);
  EXPECT_THROW(linear_recurrence(q, q, random_tensor({6, 1, 5}), s, {}), Error);
  EXPECT_THROW(linear_recurrence(q, q, v, s, {.log_decay = random_tensor({3})}), Error);
  EXPECT_THROW(linear_recurrence(q, q, v, s, {.log_decay = random_tensor({2}), .causal = false}), Error);
  const std::vector<Tensor> state = {Tensor::zeros({2, 4, 5})}, wrong = {Tensor::zeros({2, 4, 6})}, none = {};
  EXPECT_THROW(linear_recurrence_continue(q, q, v, s, {}, wrong), Error);
  EXPECT_THROW(linear_recurrence_continue(q, q, v, s, {}, none), Error);
  EXPECT_THROW(linear_recurrence_continue(q, q, v, s, {.causal = false}, state), Error);
  EXPECT_THROW(linear_recurrence_continue(require_gradient(q), q, v, s, {}, state), Error);
  linear_recurrence_continue(q, q, v, s, {}, state);
}

}  // namespace
}  // namespace attune
