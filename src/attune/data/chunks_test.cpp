#include "attune/data/chunks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attune/base/error.h"
#include "attune/base/random.h"

namespace attune {
namespace {

using Chunks = std::vector<Chunk>;

TEST(Chunks, WholeSectionsArePackedTogether) {
  EXPECT_EQ(pack_chunks(10, {.sections = {0, 3, 6, 8}, .sentences = {}}, 6), (Chunks{{0, 6}, {6, 10}}));
  EXPECT_EQ(pack_chunks(10, {.sections = {0, 3, 6, 8}, .sentences = {}}, 5), (Chunks{{0, 3}, {3, 8}, {8, 10}}));
  EXPECT_EQ(pack_chunks(4, {}, 5), (Chunks{{0, 4}}));
  EXPECT_EQ(pack_chunks(0, {}, 5), Chunks{});
}

TEST(Chunks, OnlyASectionThatAloneIsTooLongIsDivided) {
  // Sections of 2, 9 and 2 tokens; the middle one has sentences of 3, 4 and 2. Its tail takes the last section in.
  EXPECT_EQ(pack_chunks(13, {.sections = {0, 2, 11}, .sentences = {0, 1, 2, 5, 9, 11, 12}}, 5),
            (Chunks{{0, 2}, {2, 5}, {5, 9}, {9, 13}}));
}

TEST(Chunks, ASentenceThatAloneIsTooLongIsDividedEvenly) {
  EXPECT_EQ(pack_chunks(11, {.sections = {0}, .sentences = {0}}, 5), (Chunks{{0, 3}, {3, 7}, {7, 11}}));
}

TEST(Chunks, EveryTokenIsInExactlyOneChunk) {
  RandomStream random(RandomKey{2});
  for (int round = 0; round < 1000; ++round) {
    std::int64_t tokens = random.below(300), longest = 1 + random.below(40);
    CutPoints cuts;
    for (auto* list : {&cuts.sections, &cuts.sentences}) {
      for (std::int64_t i = random.below(20); i > 0; --i) list->push_back(random.below(tokens + 1));
      std::ranges::sort(*list);
    }
    std::int64_t at = 0;
    for (const Chunk& chunk : pack_chunks(tokens, cuts, longest)) {
      EXPECT_EQ(chunk.begin, at);
      EXPECT_GE(chunk.length(), 1);
      EXPECT_LE(chunk.length(), longest);
      at = chunk.end;
    }
    EXPECT_EQ(at, tokens);
  }
}

TEST(Chunks, TokensOverACutBelongToWhatIsBefore) {
  EXPECT_EQ(tokens_at(std::vector<std::size_t>{0, 2, 5, 9}, std::vector<std::size_t>{0, 2, 4, 9, 20}),
            (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(Chunks, StridesOverlapAndReachTheEnd) {
  EXPECT_EQ(stride_chunks(10, 4, 1), (Chunks{{0, 4}, {3, 7}, {6, 10}}));
  EXPECT_EQ(stride_chunks(11, 4, 1), (Chunks{{0, 4}, {3, 7}, {6, 10}, {7, 11}}));
  EXPECT_EQ(stride_chunks(3, 4, 1), (Chunks{{0, 3}}));
  EXPECT_EQ(stride_chunks(0, 4, 1), Chunks{});
}

TEST(Chunks, LengthsThatMakeNoSenseAreRefused) {
  EXPECT_THROW(pack_chunks(5, {}, 0), Error);
  EXPECT_THROW(pack_chunks(5, {.sections = {3, 1}, .sentences = {}}, 2), Error);
  EXPECT_THROW(pack_chunks(5, {.sections = {}, .sentences = {9}}, 2), Error);
  EXPECT_THROW(stride_chunks(5, 4, 4), Error);
  EXPECT_THROW(stride_chunks(5, 4, -1), Error);
}

}  // namespace
}  // namespace attune
