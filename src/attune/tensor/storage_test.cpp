#include "attune/tensor/storage.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/tensor/allocator.h"

namespace attune {
namespace {

TEST(Allocator, BlocksAreAlignedAndDoNotOverlap) {
  Allocator allocator;
  std::vector<std::pair<Allocator::Block*, std::size_t>> blocks;
  RandomStream random(RandomKey{.seed = 3});
  for (int round = 0; round < 2000; ++round) {
    if (blocks.size() > 40 || (!blocks.empty() && random.below(3) == 0)) {
      auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(blocks.size())));
      auto [block, size] = blocks[at];
      auto* bytes = reinterpret_cast<unsigned char*>(Allocator::address_of(block));
      for (std::size_t i = 0; i < size; i += std::max<std::size_t>(1, size / 7))
        ASSERT_EQ(bytes[i], static_cast<unsigned char>(size));
      allocator.give_back(block);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      auto size = static_cast<std::size_t>(random.below(random.below(2) ? 3000 : 700000));
      Allocator::Block* block = allocator.take(size);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(Allocator::address_of(block)) % 64, 0u);
      std::memset(Allocator::address_of(block), static_cast<int>(size & 255), size);
      blocks.push_back({block, size});
    }
  }
  for (auto [block, size] : blocks) allocator.give_back(block);
  EXPECT_EQ(allocator.statistics().bytes_in_use, 0);
  allocator.release_unused();
  EXPECT_EQ(allocator.statistics().bytes_held, 0);
}

TEST(Allocator, FreedNeighboursMergeSoThatALargerBlockFits) {
  Allocator allocator;
  std::vector<Allocator::Block*> parts;
  for (int i = 0; i < 16; ++i) parts.push_back(allocator.take(std::size_t{4} << 20));  // 64 MiB in all: one segment
  std::byte* first = Allocator::address_of(parts[0]);
  EXPECT_EQ(allocator.statistics().system_calls, allocator.statistics().bytes_held >> 26);
  auto calls = allocator.statistics().system_calls;
  for (int i : {3, 1, 2, 0}) allocator.give_back(parts[static_cast<std::size_t>(i)]);
  Allocator::Block* merged = allocator.take(std::size_t{16} << 20);
  EXPECT_EQ(Allocator::address_of(merged), first);
  EXPECT_EQ(allocator.statistics().system_calls, calls);
  allocator.give_back(merged);
  for (std::size_t i = 4; i < 16; ++i) allocator.give_back(parts[i]);
}

TEST(Allocator, TheSmallestGapThatFitsIsUsed) {
  Allocator allocator;
  std::vector<Allocator::Block*> blocks;
  for (std::size_t mib : {8, 1, 3, 1, 5, 1}) blocks.push_back(allocator.take(mib << 20));
  std::byte* gap = Allocator::address_of(blocks[2]);
  for (std::size_t i : {0, 2, 4}) allocator.give_back(blocks[i]);
  Allocator::Block* fits = allocator.take(std::size_t{3} << 20);
  EXPECT_EQ(Allocator::address_of(fits), gap);
  allocator.give_back(fits);
  for (std::size_t i : {1, 3, 5}) allocator.give_back(blocks[i]);
}

TEST(Allocator, ASecondStepOfTheSameSizesAsksTheSystemForNothing) {
  auto step = [] {
    std::vector<std::shared_ptr<Storage>> kept;
    for (std::size_t i = 1; i < 60; ++i) {
      kept.push_back(allocate(i * 40961));
      if (i % 3 == 0) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(kept.size() / 2));
    }
  };
  step();
  auto calls = allocator_statistics().system_calls;
  for (int i = 0; i < 20; ++i) step();
  EXPECT_EQ(allocator_statistics().system_calls, calls);
}

TEST(Allocator, PeakIsTheMostThatWasInUse) {
  auto before = allocator_statistics().bytes_in_use;
  { auto a = allocate(1 << 20), b = allocate(1 << 20); }
  reset_peak_in_use();
  EXPECT_EQ(allocator_statistics().peak_in_use, before);
  { auto a = allocate(3 << 20); }
  EXPECT_GE(allocator_statistics().peak_in_use, before + (3 << 20));
  EXPECT_LT(allocator_statistics().peak_in_use, before + (3 << 20) + 4096);
  EXPECT_EQ(allocator_statistics().bytes_in_use, before);
}

TEST(Allocator, WhatNoMachineHasIsAnError) {
  EXPECT_THROW(allocate(std::size_t{1} << 46), Error);
  EXPECT_THROW(allocate(~std::size_t{0}), Error);
  EXPECT_NO_THROW(allocate(100));
}

TEST(Allocator, ServesManyThreadsAtOnce) {
  auto before = allocator_statistics().bytes_in_use;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::vector<std::shared_ptr<Storage>> mine;
      for (std::size_t i = 0; i < 400; ++i) {
        mine.push_back(allocate(1000 + i * 977));
        std::memset(mine.back()->data, t, 1000);
        if (mine.size() > 8) mine.erase(mine.begin());
        for (const auto& s : mine) ASSERT_EQ(s->data[999], static_cast<std::byte>(t));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocator_statistics().bytes_in_use, before);
}

}  // namespace
}  // namespace attune
