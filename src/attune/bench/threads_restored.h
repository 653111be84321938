#pragma once

#include "attune/base/threads.h"

namespace attune::bench {

/// Sets the number of threads back, whatever happens.
struct ThreadsRestored {
  int before = num_threads();
  ~ThreadsRestored() { set_num_threads(before); }
};

}  // namespace attune::bench
