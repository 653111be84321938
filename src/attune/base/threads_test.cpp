#include "attune/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "attune/base/error.h"

namespace attune {
namespace {

class Threads : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    before_ = num_threads();
    set_num_threads(GetParam());
  }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = 1;
};
INSTANTIATE_TEST_SUITE_P(With, Threads, testing::Values(1, 2, 3, 8));

TEST_P(Threads, EveryIndexIsVisitedOnce) {
  for (std::int64_t count : {0, 1, 2, 63, 64, 65, 1000})
    for (std::int64_t grain : {1, 7, 64, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      parallel(count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
      });
      for (auto& visit : visits) ASSERT_EQ(visit.load(), 1) << count << " by " << grain;
    }
}

TEST_P(Threads, PiecesDependOnTheGrainAlone) {
  std::mutex mutex;
  std::set<std::pair<std::int64_t, std::int64_t>> pieces;
  parallel(25, 10, [&](std::int64_t begin, std::int64_t end) {
    std::lock_guard lock(mutex);
    pieces.emplace(begin, end);
  });
  EXPECT_EQ(pieces, (std::set<std::pair<std::int64_t, std::int64_t>>{{0, 10}, {10, 20}, {20, 25}}));
}

TEST_P(Threads, TheFirstExceptionInOrderIsThrown) {
  for (int trial = 0; trial < 50; ++trial) {
    try {
      parallel(40, 1, [&](std::int64_t begin, std::int64_t) {
        if (begin == 5) std::this_thread::sleep_for(std::chrono::microseconds(300));
        if (begin >= 5) fail("piece {}", begin);
      });
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      ASSERT_STREQ(error.what(), "piece 5");
    }
  }
}

TEST_P(Threads, ThePoolWorksOnAfterAnException) {
  EXPECT_THROW(parallel(10, 1, [](std::int64_t, std::int64_t) { fail("broken"); }), Error);
  std::atomic<int> done{0};
  parallel(10, 1, [&](std::int64_t, std::int64_t) { ++done; });
  EXPECT_EQ(done, 10);
}

TEST_P(Threads, NestedCallsRunInlineOnTheSameThread) {
  std::atomic<int> elsewhere{0}, inner{0};
  parallel(16, 1, [&](std::int64_t, std::int64_t) {
    auto outer = std::this_thread::get_id();
    parallel(8, 1, [&](std::int64_t, std::int64_t) {
      ++inner;
      if (std::this_thread::get_id() != outer) ++elsewhere;
    });
  });
  EXPECT_EQ(inner, 16 * 8);
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(Threads, WorkIsSeenByTheCallerAndByTheNextCall) {
  // Plain variables: ThreadSanitizer would report a missing order between pieces and the calls around them.
  std::vector<std::int64_t> values(500);
  for (int round = 0; round < 200; ++round) {
    parallel(500, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] += i;
    });
    values[0] += 1;
  }
  EXPECT_EQ(values[0], 200);
  for (std::int64_t i = 1; i < 500; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], 200 * i);
}

TEST_P(Threads, ASleepingPoolWakesUp) {
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> done{0};
    parallel(8, 1, [&](std::int64_t, std::int64_t) { ++done; });
    ASSERT_EQ(done, 8);
  }
}

TEST_P(Threads, ALongPieceElsewhereIsWaitedFor) {
  std::atomic<int> done{0};
  parallel(4, 1, [&](std::int64_t, std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++done;
  });
  EXPECT_EQ(done, 4);
}

TEST_P(Threads, SeveralCallersAtOnceAllFinish) {
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round)
        parallel(50, 3, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 100 * 50);
}

TEST_P(Threads, TheNumberCanNotChangeInside) {
  EXPECT_THROW(parallel(2 * GetParam(), 1, [](std::int64_t, std::int64_t) { set_num_threads(4); }), Error);
}

TEST(ThreadCount, MustBeFrom1To1024) {
  for (int wrong : {-1, 0, 1025}) EXPECT_THROW(set_num_threads(wrong), Error);
  EXPECT_GE(num_threads(), 1);
}

TEST(ThreadCount, SeveralThreadsTakePart) {
  int before = num_threads();
  set_num_threads(3);
  std::mutex mutex;
  std::set<std::thread::id> who;
  parallel(30, 1, [&](std::int64_t, std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::lock_guard lock(mutex);
    who.insert(std::this_thread::get_id());
  });
  set_num_threads(before);
  EXPECT_GE(who.size(), 2u);
  EXPECT_LE(who.size(), 3u);
}

TEST(Parallel, RejectsAGrainBelowOne) {
  EXPECT_THROW(parallel(3, 0, [](std::int64_t, std::int64_t) {}), Error);
}

}  // namespace
}  // namespace attune
