#pragma once

#include "attune/base/run.h"

namespace attune {

/// While one lives, parallel() (base/threads.h) called by this thread throws Cancelled between its pieces once the run
/// is cancelled: a forward over a long text ends within moments. Only around work whose result is then thrown away;
/// without a cancel flag it does nothing.
class StopWithin {
 public:
  explicit StopWithin(const Run& run);
  ~StopWithin();
  StopWithin(const StopWithin&) = delete;
  StopWithin& operator=(const StopWithin&) = delete;

 private:
  const std::atomic<bool>* before_;
};

}  // namespace attune
