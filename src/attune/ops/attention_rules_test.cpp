// Every mask crossed with every score change, forward and all gradients, on the CPU against the readable reference and
// finite differences; what each mask hides, by its definition; and the same bits for a sequence alone.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/attention.h"
#include "attune/ops/attention_cases.h"
#include "attune/ops/relative_buckets.h"

namespace attune {
namespace {

using conformance::expect_agrees;
using conformance::random_tensor;
using conformance::same_bits;

constexpr std::int64_t longest = 200;  // tokens of a sequence in these tests

std::vector<std::int64_t> kinds_of_positions(std::int64_t period, std::int64_t kinds) {
  std::vector<std::int64_t> all;
  for (std::int64_t t = 0; t < longest; ++t) all.push_back(t / period % kinds);
  return all;
}

struct NamedMask {
  const char* name;
  AttentionMask mask;
  /// The definition, for a sequence of `keys` keys; null: `mask` is random, see its own test.
  std::function<bool(std::int64_t query, std::int64_t key, std::int64_t keys)> sees;
};

std::vector<NamedMask> masks() {
  auto both = [](auto a, auto b) { return [=](auto q, auto k, auto n) { return a(q, k, n) && b(q, k, n); }; };
  auto past = [](std::int64_t q, std::int64_t k, std::int64_t) { return k <= q; };
  auto document = [](std::int64_t q, std::int64_t k, std::int64_t) {
    return q >= 0 && q < longest && k < longest && q / 23 % 9 == k / 23 % 9;
  };
  std::vector<std::int64_t> parents;  // a binary tree
  for (std::int64_t t = 0; t < longest; ++t) parents.push_back((t + 1) / 2 - 1);
  auto ancestor = [](std::int64_t q, std::int64_t k, std::int64_t) {
    for (; q >= 0 && q < longest; q = (q + 1) / 2 - 1)
      if (q == k) return true;
    return false;
  };
  return {
      {"bidirectional", bidirectional(), [](auto, auto, auto) { return true; }},
      {"causal", causal(), past},
      {"window", window(7, 3), [](auto q, auto k, auto) { return k >= q - 7 && k <= q + 3; }},
      {"causal & window", causal() & window(70, 9), both(past, [](auto q, auto k, auto) { return k >= q - 70; })},
      {"dilated", dilated(5, 2, 3), [](auto q, auto k, auto) { return (q - k) % 3 == 0 && k >= q - 15 && k <= q + 6; }},
      {"strided", strided(8), [](auto q, auto k, auto) { return k <= q && (q - k < 8 || (q - k) % 8 == 0); }},
      {"window | first_keys", (causal() & window(9, 0)) | (causal() & first_keys(4)),
       [](auto q, auto k, auto) { return k <= q && (k >= q - 9 || k < 4); }},
      {"prefix", prefix({30}), [](auto q, auto k, auto) { return k < 30 || k <= q; }},
      {"documents", documents({kinds_of_positions(23, 9)}), document},
      {"causal & documents", causal() & documents({kinds_of_positions(23, 9)}), both(past, document)},
      {"longformer", longformer(10, 3), [](auto q, auto k, auto) { return std::abs(q - k) <= 10 || q < 3 || k < 3; }},
      {"bigbird", bigbird({.block = 16, .window_blocks = 3, .global_blocks = 1, .random_blocks = 2, .seed = 5}), {}},
      {"tree", tree(parents), ancestor},
      {"cross_modal",
       cross_modal({kinds_of_positions(17, 3)}, {{true, false, true}, {true, true, false}, {false, false, true}}),
       [](auto q, auto k, auto) {
         if (q < 0 || q >= longest || k >= longest) return false;
         const auto a = q / 17 % 3, b = k / 17 % 3;
         return a == b || (a == 0 && b == 2) || (a == 1 && b == 0);
       }},
      {"where", where([](auto q, auto k, auto) { return (q * 7 + k * 3) % 5 != 0; }),
       [](auto q, auto k, auto) { return (q * 7 + k * 3) % 5 != 0; }},
      {"nothing", where([](auto, auto, auto) { return false; }), [](auto, auto, auto) { return false; }},
  };
}

constexpr std::int64_t heads = 4;
constexpr std::int64_t head_dim = 12;

/// Changes that learn from table in[3], whose shape is given.
struct NamedChange {
  const char* name;
  Shape table;
  std::function<ScoreChanges(const Tensor& table)> make;
  std::int64_t kv_heads = 2;
};

std::vector<NamedChange> changes() {
  auto shaw = [](std::int64_t d) { return shaw_bucket(d, 5); };
  auto t5 = [](std::int64_t d) { return t5_bucket(d, {.buckets = 16, .longest = 40, .both_ways = true}); };
  auto deberta = [](std::int64_t d) { return deberta_bucket(d, {.span = 16, .buckets = 16, .longest = 64}); };
  return {
      {"none", {1}, [](const Tensor&) { return ScoreChanges(); }},
      {"soft_cap", {1}, [](const Tensor&) { return soft_cap(1.5); }},
      {"alibi",
       {1},
       [](const Tensor&) {
         return alibi({0.5, 0.25, 0.125, 0.0625});
       }},
      {"distance_bias", {16, heads}, [=](const Tensor& t) { return distance_bias(t, t5); }},
      {"relative_keys", {11, head_dim}, [=](const Tensor& t) { return relative_keys(t, shaw); }},
      {"relative_keys by head", {32, heads, head_dim}, [=](const Tensor& t) { return relative_keys(t, deberta); }},
      {"relative_queries", {32, heads, head_dim}, [=](const Tensor& t) { return relative_queries(t, deberta); }, heads},
      {"pair_bias", {heads, longest, longest}, [](const Tensor& t) { return pair_bias(t); }},
      {"window_bias", {19 * 39, heads}, [](const Tensor& t) { return window_bias(t, 10, 20); }},
      {"sinks", {heads}, [](const Tensor& t) { return sinks(t); }},
      {"all together",
       {heads},
       [](const Tensor& t) {
         return soft_cap(2) + alibi({0.1, 0.2, 0.3, 0.4}) + sinks(t);
       }},
  };
}

std::vector<Tensor> inputs_for(const AttentionSequences& s, const NamedChange& change) {
  return {random_tensor({s.queries.total(), heads, head_dim}, 1),
          random_tensor({s.keys.total(), change.kv_heads, head_dim}, 2),
          random_tensor({s.keys.total(), change.kv_heads, 9}, 3), random_tensor(change.table, 4, 0.5)};
}

void cross(const AttentionSequences& s, float rate, bool every_mask) {
  for (const NamedMask& mask : masks())
    for (const NamedChange& change : changes()) {
      if (!every_mask && std::string_view(mask.name) != "causal & window") continue;
      SCOPED_TRACE(std::string(mask.name) + " with " + change.name);
      expect_agrees({.run =
                         [&, s](auto in) {
                           AttentionRule rule = mask.mask + change.make(in[3]);
                           rule.dropout = {rate, {7, 1, 3}};
                           return attention(in[0], in[1], in[2], s, rule);
                         },
                     .inputs = inputs_for(s, change),
                     .difference_places = 2});
    }
}

CONFORMANCE(attention_rules) {
  cross(sequences_of({{70, 70}, {1, 1}, {0, 0}, {13, 13}}), 0, true);  // more than a block of 64
  cross(sequences_of({{5, 131}, {2, 3}, {0, 4}, {3, 0}}), 0, true);    // fewer queries than keys: the end of each
  cross(sequences_of({{66, 66}, {9, 20}}), 0.3f, false);
}

CONFORMANCE(attention_weights_of_rules) {
  const AttentionSequences s = sequences_of({{4, 4}, {70, 70}});
  for (const NamedMask& mask : masks())
    for (const NamedChange& change : changes()) {
      SCOPED_TRACE(std::string(mask.name) + " with " + change.name);
      const std::vector<Tensor> in = inputs_for(s, change);
      expect_agrees({.run =
                         [&](auto x) {
                           return attention_weights(x[0], x[1], s, mask.mask + change.make(x[3]), {1, 3, 69});
                         },
                     .inputs = {in[0], in[1], in[2], in[3]},
                     .gradient = false});
    }
}

TEST(AttentionWeights, SomeHeadsAndRowsAreThoseOfAll) {
  const AttentionSequences s = sequences_of({{3, 3}, {70, 100}});
  const std::vector<Tensor> in = inputs_for(s, changes()[0]);
  const AttentionRule rule = causal() + soft_cap(4);
  const Tensor y = attention(in[0], in[1], in[2], s, rule);
  const Tensor all = attention_weights(in[0], in[1], s, rule, {1, 0, 70});  // [heads, 70, 100]
  for (auto [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {1, 2}, {3, 1}, {2, 0}}) {
    const Tensor some = attention_weights(in[0], in[1], s, rule, {1, 5, 60, first, count});
    const std::int64_t heads_given = count == 0 ? heads - first : count;
    ASSERT_EQ(some.shape(), (Shape{heads_given, 55, 100}));
    for (std::int64_t h = 0; h < heads_given; ++h)
      EXPECT_TRUE(same_bits(some.rows(h, h + 1), all.rows(first + h, first + h + 1).slice(1, 5, 60).contiguous()));
  }
  EXPECT_TRUE(same_bits(attention(in[0], in[1], in[2], s, rule), y));
  EXPECT_THROW(attention_weights(in[0], in[1], s, rule, {1, 0, 70, 3, 2}), Error);
  EXPECT_THROW(attention_weights(in[0], in[1], s, rule, {1, 0, 70, 4, 0}), Error);
}

/// The weights that attention gives are above 0 exactly where the mask lets through.
TEST(AttentionMasks, HideWhatTheirDefinitionsHide) {
  for (auto [queries, keys] : {std::pair<std::int64_t, std::int64_t>{70, 70}, {140, 140}, {5, 131}, {9, 4}}) {
    const AttentionSequences s = sequences_of({{queries, keys}});
    const Tensor q = Tensor::zeros({queries, 1, 8}), k = Tensor::zeros({keys, 1, 8});
    for (const NamedMask& mask : masks()) {
      if (!mask.sees) continue;
      const std::vector<float> w = attention_weights(q, k, s, {.mask = mask.mask}, {0, 0, queries}).to_vector<float>();
      for (std::int64_t i = 0; i < queries; ++i)
        for (std::int64_t j = 0; j < keys; ++j)
          ASSERT_EQ(w[static_cast<std::size_t>(i * keys + j)] > 0, mask.sees(i + keys - queries, j, keys))
              << mask.name << ", query " << i + keys - queries << ", key " << j << " of " << keys;
    }
  }
}

/// What a mask says of blocks and of the reach agrees with what it says of single keys.
TEST(AttentionMasks, CoverReachAndViewersAgreeWithTheBits) {
  const std::int64_t keys = 190;
  for (const NamedMask& named : masks()) {
    const QuerySpan all = {0, 0, 190, keys};
    const AttentionMask mask = named.mask.compiled(std::span(&all, 1));
    for (std::int64_t first : {0, 1, 17, 63, 64, 100, 189})
      for (std::int64_t count : {1, 2, 48, 64, 190}) {
        if (first + count > 190) continue;
        const QuerySpan queries = {0, first, count, keys};
        const KeySpan reach = mask.reach(queries);
        for (std::int64_t block = 0; block < keys; block += 64) {
          const std::int64_t end = std::min(block + 64, keys);
          const PositionSpan viewers = mask.viewers(queries, {block, end});
          std::int64_t seen = 0;
          for (std::int64_t i = first; i < first + count; ++i)
            for (std::int64_t j = block; j < end; ++j)
              if (mask.sees(0, i, j, keys)) {
                ++seen;
                EXPECT_TRUE(j >= reach.begin && j < reach.end) << named.name;
                EXPECT_TRUE(i >= viewers.begin && i < viewers.end) << named.name;
              }
          const Cover cover = mask.cover(queries, {block, end});
          EXPECT_TRUE(cover != Cover::none || seen == 0) << named.name << first << " " << count << " " << block;
          EXPECT_TRUE(cover != Cover::all || seen == count * (end - block)) << named.name << first << " " << count;
        }
      }
  }
}

TEST(AttentionMasks, BigBirdSeesItsBlocksAndSoManyRandomOnes) {
  const BigBirdBlocks sizes = {.block = 16, .window_blocks = 3, .global_blocks = 2, .random_blocks = 3, .seed = 9};
  const std::int64_t blocks = 20, keys = blocks * 16;
  const AttentionMask mask = bigbird(sizes);
  std::set<std::vector<bool>> random;
  for (std::int64_t a = 0; a < blocks; ++a) {
    std::vector<bool> others;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const bool sees = mask.sees(0, a * 16 + 5, b * 16 + 11, keys);
      EXPECT_EQ(sees, mask.sees(0, a * 16, b * 16, keys));
      const bool global = a < 2 || a >= blocks - 2 || b < 2 || b >= blocks - 2;
      if (!global && std::abs(a - b) > 1) {
        others.push_back(sees);
      } else {
        EXPECT_TRUE(sees);
      }
    }
    EXPECT_EQ(std::ranges::count(others, true), std::min<std::int64_t>(3, static_cast<std::int64_t>(others.size())));
    random.insert(others);
  }
  EXPECT_GT(random.size(), 10u);  // not the same for all
  AttentionMask other = bigbird({.block = 16, .window_blocks = 3, .global_blocks = 2, .random_blocks = 3, .seed = 10});
  bool differs = false;
  for (std::int64_t a = 0; a < blocks; ++a)
    for (std::int64_t b = 0; b < blocks; ++b)
      differs |= mask.sees(0, a * 16, b * 16, keys) != other.sees(0, a * 16, b * 16, keys);
  EXPECT_TRUE(differs);
}

TEST(AttentionRules, SequenceAloneHasTheBitsOfTheBatch) {
  const AttentionSequences batch = sequences_of({{70, 70}, {5, 150}, {64, 64}, {133, 133}});
  for (const NamedMask& mask : masks())
    for (const NamedChange& change : changes()) {
      SCOPED_TRACE(std::string(mask.name) + " with " + change.name);
      const std::vector<Tensor> in = inputs_for(batch, change);
      const Tensor dy = random_tensor({batch.queries.total(), heads, 9}, 9);
      const AttentionRule rule = mask.mask + change.make(in[3]);
      const EvaluatedAttention whole(in, batch, rule, dy);
      for (std::int64_t i = 0; i < batch.queries.count(); ++i) {
        const std::int64_t qb = batch.queries.begin(i), qe = batch.queries.end(i), kb = batch.keys.begin(i),
                           ke = batch.keys.end(i);
        const EvaluatedAttention one(
            {in[0].rows(qb, qe).clone(), in[1].rows(kb, ke).clone(), in[2].rows(kb, ke).clone()},
            sequences_of({{qe - qb, ke - kb}}), rule, dy.rows(qb, qe).clone());
        EXPECT_TRUE(same_bits(one.y, whole.y.rows(qb, qe))) << i;
        EXPECT_TRUE(same_bits(one.dq, whole.dq.rows(qb, qe))) << i;
        EXPECT_TRUE(same_bits(one.dk, whole.dk.rows(kb, ke))) << i;
        EXPECT_TRUE(same_bits(one.dv, whole.dv.rows(kb, ke))) << i;
      }
      // And a query alone among its sequence's keys.
      const std::int64_t q = 64, n = 133, begin = batch.queries.begin(3);
      AttentionSequences placed = sequences_of({{1, n}});
      placed.first_positions = {q};
      const std::int64_t kb = batch.keys.begin(3);
      EXPECT_TRUE(same_bits(
          attention(in[0].rows(begin + q, begin + q + 1), in[1].rows(kb, kb + n), in[2].rows(kb, kb + n), placed, rule),
          whole.y.rows(begin + q, begin + q + 1)));
    }
}

TEST(AttentionRules, APredicateGivesTheBitsOfTheMaskThatItDescribes) {
  const AttentionSequences s = sequences_of({{150, 150}, {20, 90}});
  const std::vector<Tensor> in = inputs_for(s, changes()[0]);
  const Tensor dy = random_tensor({170, heads, 9}, 9);
  for (const NamedMask& mask : masks()) {
    if (!mask.sees) continue;
    const AttentionMask described = where([&](std::int64_t q, std::int64_t k, std::int64_t sequence) {
      return mask.sees(q, k, sequence == 0 ? 150 : 90);
    });
    const EvaluatedAttention a(in, s, {.mask = mask.mask}, dy), b(in, s, {.mask = described}, dy);
    EXPECT_TRUE(same_bits(a.y, b.y)) << mask.name;
    EXPECT_TRUE(same_bits(a.dq, b.dq)) << mask.name;
    EXPECT_TRUE(same_bits(a.dk, b.dk)) << mask.name;
    EXPECT_TRUE(same_bits(a.dv, b.dv)) << mask.name;
  }
}

TEST(AttentionRules, RowThatSeesNothingGivesZerosEvenBesideASink) {
  const AttentionSequences s = sequences_of({{70, 70}});
  const NamedChange with_sinks = changes()[9];
  ASSERT_STREQ(with_sinks.name, "sinks");
  const std::vector<Tensor> in = inputs_for(s, with_sinks);
  const AttentionMask odd_rows = where([](auto q, auto, auto) { return q % 2 == 1; });
  for (const ScoreChanges& change : {ScoreChanges(), with_sinks.make(in[3]), soft_cap(3)}) {
    const EvaluatedAttention e(in, s, odd_rows + change, random_tensor({70, heads, 9}, 9));
    for (std::int64_t i = 0; i < 70; i += 2) {
      for (float value : e.y.rows(i, i + 1).to_vector<float>()) EXPECT_EQ(value, 0);
      for (float value : e.dq.rows(i, i + 1).to_vector<float>()) EXPECT_EQ(value, 0);
    }
    for (float value : e.dk.to_vector<float>()) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(AttentionRules, HiddenKeysMayHoldAnything) {
  // NaN and infinity in keys and values that a mask hides, within blocks that other keys are seen in.
  const std::int64_t n = 130;
  const AttentionSequences s = sequences_of({{n, n}});
  const AttentionMask hides = where([](auto, auto k, auto) { return k % 7 != 3; });
  std::vector<Tensor> in = inputs_for(s, changes()[0]);
  const Tensor before = attention(in[0], in[1], in[2], s, {.mask = hides});
  for (std::size_t which : {1, 2}) {
    std::vector<float> values = in[which].to_vector<float>();
    const std::size_t width = values.size() / static_cast<std::size_t>(n);
    for (std::size_t j = 3; j < static_cast<std::size_t>(n); j += 7)
      for (std::size_t c = 0; c < width; ++c)
        values[j * width + c] =
            c % 2 == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    in[which] = Tensor::from<float>(in[which].shape(), values);
  }
  EXPECT_TRUE(same_bits(attention(in[0], in[1], in[2], s, {.mask = hides}), before));
}

TEST(AttentionRules, ExtremeScoresAreRight) {
  // Scores of +-10,000 through every change: the softmax is one-hot, and the cap brings them to its ends.
  const Tensor q = Tensor::from<float>({1, 1, 1}, std::vector<float>{100});
  const Tensor k = Tensor::from<float>({3, 1, 1}, std::vector<float>{-100, 0, 100});
  const Tensor v = Tensor::from<float>({3, 1, 1}, std::vector<float>{1, 2, 4});
  const AttentionSequences s = sequences_of({{1, 3}});
  auto y = [&](const ScoreChanges& change) {
    AttentionRule rule = bidirectional() + change;
    rule.scale = 1;
    return attention(q, k, v, s, rule).to_vector<float>()[0];
  };
  EXPECT_EQ(y({}), 4);
  EXPECT_EQ(y(alibi({1})), 4);
  EXPECT_EQ(y(sinks(Tensor::full({1}, 1e4))), 2);  // as large as the largest: half of the weight
  EXPECT_EQ(y(sinks(Tensor::full({1}, -1e4))), 4);
  EXPECT_EQ(y(sinks(Tensor::full({1}, 2e4))), 0);
  const double e = std::exp(1.0), sum = 1 / e + 1 + e;
  EXPECT_NEAR(y(soft_cap(1)), (1 / e + 2 + 4 * e) / sum, 1e-5);
  Tensor bias = Tensor::from<float>({1, 3, 3}, std::vector<float>{0, 0, 0, 0, 0, 0, 2e4f, 3e4f, -1e4f});
  EXPECT_EQ(y(pair_bias(bias)), 2);
}

TEST(AttentionRules, WrongRulesAreNamed) {
  const Tensor x = Tensor::zeros({4, 2, 8});
  const AttentionSequences s = sequences_of({{4, 4}});
  auto run = [&](const AttentionRule& rule) { attention(x, x, x, s, rule); };
  EXPECT_THROW(soft_cap(0), Error);
  EXPECT_THROW(soft_cap(1) + soft_cap(2), Error);
  EXPECT_THROW(sinks(Tensor::zeros({2})) + sinks(Tensor::zeros({2})), Error);
  EXPECT_THROW(alibi({-1, 1}), Error);
  EXPECT_THROW(run(bidirectional() + alibi({1})), Error);
  EXPECT_THROW(run(bidirectional() + sinks(Tensor::zeros({3}))), Error);
  EXPECT_THROW(run(bidirectional() + pair_bias(Tensor::zeros({2, 3, 4}))), Error);
  EXPECT_THROW(run(bidirectional() + distance_bias(Tensor::zeros({3, 2}), [](auto d) { return d; })), Error);
  EXPECT_THROW(run(bidirectional() + relative_keys(Tensor::zeros({3, 7}), [](auto) { return 0; })), Error);
  EXPECT_THROW(window_bias(Tensor::zeros({8, 2}), 2, 2), Error);
  EXPECT_THROW(window(-1, 0), Error);
  EXPECT_THROW(dilated(1, 1, 0), Error);
  EXPECT_THROW(strided(0), Error);
  EXPECT_THROW(tree({0}), Error);
  EXPECT_THROW(cross_modal({{0, 2}}, {{true, true}, {true, true}}), Error);
  EXPECT_THROW(bigbird({.window_blocks = 2}), Error);
  EXPECT_THROW(where(nullptr), Error);
  const std::vector<std::int64_t> three = {0, 0, 0};  // positions, of four
  EXPECT_THROW(run({.mask = documents({three})}), Error);
  EXPECT_THROW(run({.mask = causal() & (cross_modal({three}, {{true}}) | window(1, 0))}), Error);
  EXPECT_THROW(run({.mask = tree({-1, 0, 0})}), Error);
  EXPECT_THROW(attention(x, x, x, sequences_of({{1, 1}, {1, 1}, {2, 2}}), {.mask = prefix({1, 2})}), Error);
}

}  // namespace
}  // namespace attune
