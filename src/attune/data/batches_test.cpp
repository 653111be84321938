#include "attune/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attune/base/error.h"
#include "attune/base/random.h"

namespace attune {
namespace {

using Batches = std::vector<std::vector<std::int64_t>>;

const std::vector<std::int64_t> lengths = {3, 4, 2, 10, 1, 0, 5};
constexpr BatchOrder sequential = BatchOrder::sequential;

TEST(Batches, StayWithinTheirTokens) {
  EXPECT_EQ(make_batches(lengths, {.batch_tokens = 7, .order = sequential}, 0), (Batches{{0, 1}, {2}, {3}, {4, 5, 6}}));
}

TEST(Batches, StayWithinTheirSize) {
  EXPECT_EQ(make_batches(lengths, {.batch_size = 3, .order = sequential}, 0), (Batches{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(make_batches(lengths, {.batch_tokens = 7, .batch_size = 2, .order = sequential}, 0),
            (Batches{{0, 1}, {2}, {3}, {4, 5}, {6}}));
}

TEST(Batches, AreCountedAsTheyAreMade) {
  RandomStream random(RandomKey{1});
  std::vector<std::int64_t> many(100);
  for (auto& length : many) length = random.below(60);
  for (const BatchOptions& options :
       {BatchOptions{.batch_tokens = 50, .seed = 4}, BatchOptions{.batch_tokens = 200, .batch_size = 5, .seed = 4},
        BatchOptions{.batch_size = 7}, BatchOptions{.batch_tokens = 50, .order = sequential}}) {
    std::vector<std::int64_t> made;
    for (std::int64_t epoch = 3; epoch < 40; ++epoch)
      made.push_back(static_cast<std::int64_t>(make_batches(many, options, epoch).size()));
    EXPECT_EQ(count_batches(many, options, 3, 40), made);
  }
}

TEST(Batches, EveryExampleIsInExactlyOne) {
  RandomStream random(RandomKey{1});
  std::vector<std::int64_t> many(1000);
  for (auto& length : many) length = random.below(200);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::int64_t> seen;
    for (const auto& batch : make_batches(many, {.batch_tokens = 512, .seed = 4}, epoch)) {
      std::int64_t tokens = 0;
      for (std::int64_t i : batch) tokens += many[static_cast<std::size_t>(i)];
      EXPECT_LE(tokens, 512);
      seen.insert(seen.end(), batch.begin(), batch.end());
    }
    std::ranges::sort(seen);
    for (std::size_t i = 0; i < many.size(); ++i) EXPECT_EQ(seen[i], static_cast<std::int64_t>(i));
    EXPECT_EQ(seen.size(), many.size());
  }
}

TEST(Batches, SeedAndEpochAloneDecideTheOrder) {
  BatchOptions options{.batch_size = 2, .seed = 3}, other{.batch_size = 2, .seed = 4};
  std::vector<std::int64_t> many(50, 1);
  EXPECT_EQ(make_batches(many, options, 5), make_batches(many, options, 5));
  EXPECT_NE(make_batches(many, options, 5), make_batches(many, options, 6));
  EXPECT_NE(make_batches(many, options, 5), make_batches(many, other, 5));
}

TEST(Batches, AStreamRunsOnOverTheEnd) {
  BatchStream stream({1, 1, 1, 1, 1}, {.batch_size = 2, .order = sequential});
  EXPECT_EQ(stream.next(), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(stream.next(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(stream.next(), (std::vector<std::int64_t>{4, 0}));
  EXPECT_EQ(stream.place().epoch, 1);
  EXPECT_EQ(stream.place().next, 1);
  BatchStream wide({1, 1}, {.batch_size = 5, .order = sequential});
  EXPECT_EQ(wide.next(), (std::vector<std::int64_t>{0, 1, 0, 1, 0}));
}

TEST(Batches, AStreamTakenUpAgainGoesOnAlike) {
  BatchOptions options{.batch_tokens = 9, .seed = 12};
  BatchStream whole(lengths, options);
  std::vector<BatchStream::Place> places;
  Batches batches;
  for (int i = 0; i < 40; ++i) {
    places.push_back(whole.place());
    batches.push_back(whole.next());
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    BatchStream resumed(lengths, options, places[i]);
    for (std::size_t j = i; j < batches.size(); ++j) ASSERT_EQ(resumed.next(), batches[j]);
  }
}

TEST(Batches, ExamplesWithoutTokensDoNotFillABatchForever) {
  BatchStream stream({0, 0, 0}, {.batch_tokens = 8, .order = sequential});
  EXPECT_EQ(stream.next().size(), 3u);
}

TEST(Batches, BoundsThatMakeNoSenseAreRefused) {
  EXPECT_THROW(make_batches(lengths, {}, 0), Error);
  EXPECT_THROW(make_batches(lengths, {.batch_tokens = -1, .batch_size = 3}, 0), Error);
  EXPECT_THROW(make_batches(std::vector<std::int64_t>{1, -1}, {.batch_size = 3}, 0), Error);
  EXPECT_THROW(BatchStream({}, {.batch_size = 3}), Error);
  EXPECT_THROW(BatchStream({1}, {.batch_size = 3}, {0, 1}), Error);
  EXPECT_TRUE(make_batches(std::vector<std::int64_t>{}, {.batch_size = 3}, 0).empty());
}

}  // namespace
}  // namespace attune
