#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/nn/attention/family.h"

namespace attune {
namespace {

AttentionMask mask_of(const Json& config, bool causal, std::int64_t layer = 0, std::int64_t longest = 0) {
  ParameterSet set({.checkpoint = nullptr, .initial = {}}, {});
  ConfigReader reader(config, "a test's config");
  FamilyParts parts = build_family(reader, {.causal = causal, .longest = longest, .layer = layer}, Weights(set));
  reader.finish();
  EXPECT_EQ(parts.mixer, nullptr);
  EXPECT_TRUE(set.all().empty());
  return parts.rule.mask;
}

constexpr std::int64_t length = 230;

template <class Sees>
void expect_sees(const AttentionMask& mask, bool causal, const Sees& sees) {
  for (std::int64_t q = 0; q < length; ++q)
    for (std::int64_t k = 0; k < length; ++k)
      ASSERT_EQ(mask.sees(0, q, k, length), sees(q, k) && (!causal || k <= q)) << "query " << q << " key " << k;
}

TEST(SparsePatterns, AreTheirDefinitionsAndInADecoderSeeNothingLater) {
  for (bool causal : {false, true}) {
    expect_sees(mask_of({{"family", "window"}, {"one_sided", 9}}, causal), causal,
                [](auto q, auto k) { return std::abs(q - k) <= 9; });
    expect_sees(mask_of({{"family", "window"}, {"one_sided", 5}, {"dilation", 3}}, causal), causal,
                [](auto q, auto k) { return std::abs(q - k) <= 15 && (q - k) % 3 == 0; });
    expect_sees(mask_of({{"family", "longformer"}, {"one_sided", 9}, {"global_tokens", 2}}, causal), causal,
                [](auto q, auto k) { return std::abs(q - k) <= 9 || q < 2 || k < 2; });
  }
  expect_sees(mask_of({{"family", "strided"}, {"stride", 16}}, true), true,
              [](auto q, auto k) { return q - k < 16 || (q - k) % 16 == 0; });
  expect_sees(mask_of({{"family", "streaming"}, {"one_sided", 9}, {"first_keys", 3}}, true), true,
              [](auto q, auto k) { return q - k <= 9 || k < 3; });
}

TEST(SparsePatterns, BigBirdIsItsBlocks) {
  const Json config = {{"family", "bigbird"}, {"block", 10},        {"window_blocks", 3},
                       {"global_blocks", 1},  {"random_blocks", 2}, {"seed", 5}};
  const std::int64_t blocks = length / 10;
  for (bool causal : {false, true}) {
    const AttentionMask mask = mask_of(config, causal), next_layer = mask_of(config, causal, 1);
    int others = 0;
    for (std::int64_t a = 0; a < blocks; ++a) {
      int drawn = 0;
      for (std::int64_t b = 0; b < (causal ? a + 1 : blocks); ++b) {
        const bool sees = mask.sees(0, 10 * a + 9, 10 * b, length);
        for (std::int64_t q = 10 * a; q < 10 * a + 10; ++q)
          for (std::int64_t k = 10 * b; k < 10 * b + 10; ++k)
            ASSERT_EQ(mask.sees(0, q, k, length), sees && (!causal || k <= q)) << q << " " << k;
        const bool last = !causal && (a == blocks - 1 || b == blocks - 1);
        if (a == 0 || b == 0 || last || std::abs(a - b) <= 1) {
          EXPECT_TRUE(sees) << a << " " << b;
        } else {
          drawn += sees;
          others += sees != next_layer.sees(0, 10 * a + 9, 10 * b, length);
        }
      }
      const std::int64_t most = causal ? std::clamp<std::int64_t>(a - 2, 0, 2) : a == 0 || a == blocks - 1 ? 0 : 2;
      EXPECT_EQ(drawn, most) << "block " << a;
    }
    EXPECT_GT(others, 0) << "each layer draws blocks of its own";
  }
}

TEST(SparsePatterns, WhatADecoderSeesDoesNotDependOnWhatFollows) {
  for (const Json& config : std::vector<Json>{{{"family", "window"}},
                                              {{"family", "longformer"}},
                                              {{"family", "bigbird"}, {"block", 8}},
                                              {{"family", "strided"}},
                                              {{"family", "streaming"}}}) {
    const AttentionMask mask = mask_of(config, true);
    for (std::int64_t q = 0; q < length; ++q)
      for (std::int64_t k = 0; k <= q; ++k)
        ASSERT_EQ(mask.sees(0, q, k, length), mask.sees(0, q, k, q + 1)) << config << " query " << q << " key " << k;
  }
}

TEST(SparsePatterns, RefuseWhatTheyCannotDo) {
  EXPECT_THROW(mask_of({{"family", "strided"}}, false), Error);  // no encoder
  EXPECT_THROW(mask_of({{"family", "bigbird"}, {"window_blocks", 2}}, true), Error);
  EXPECT_THROW(mask_of({{"family", "window"}, {"one_sided", 0}}, true), Error);
  for (const char* key : {"random_blocks", "global_blocks", "window_blocks"}) {
    const Json many = {{"family", "bigbird"}, {"block", 10}, {key, 11}};
    EXPECT_NO_THROW(mask_of(many, true, 0, 101));  // 11 blocks
    for (const auto& [config, longest, names] : std::vector<std::tuple<Json, std::int64_t, std::vector<std::string>>>{
             {many, 100, {"max_position_embeddings", "\"block\""}},
             {{{"family", "bigbird"}, {key, 1000001}}, 0, {"at most"}}})
      try {
        mask_of(config, true, 0, longest);
        ADD_FAILURE() << config;
      } catch (const Error& e) {
        for (const std::string& name : names)
          EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find(key), std::string::npos) << e.what();
      }
  }
  EXPECT_THROW(mask_of({{"family", "window"}, {"global_tokens", 4}}, true), Error);  // Longformer's key
}

}  // namespace
}  // namespace attune
