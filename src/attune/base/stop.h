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

/// Throws Cancelled once the run of the StopWithin around this is cancelled, also in a piece of parallel(): for long
/// loops that nothing cuts into pieces.
void throw_if_stopped();

}  // namespace attune
