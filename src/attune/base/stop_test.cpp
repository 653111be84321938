#include "attune/base/stop.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"
#include "attune/base/threads.h"

namespace attune {
namespace {

TEST(StopWithin, ParallelWorkEndsBetweenItsPiecesOnceItsRunIsCancelled) {
  const int before = num_threads();
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    std::atomic<bool> cancel{false};
    std::atomic<int> pieces{0};
    {
      const StopWithin stop(attune::Run{.progress = {}, .cancel = &cancel});
      EXPECT_THROW(parallel(100000, 1,
                            [&](std::int64_t, std::int64_t) {
                              if (++pieces == 5) cancel = true;
                            }),
                   Cancelled);
      EXPECT_LT(pieces, 100000);
    }
    pieces = 0;
    parallel(10, 1, [&](std::int64_t, std::int64_t) { ++pieces; });  // out of its sight
    EXPECT_EQ(pieces, 10);
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace attune
