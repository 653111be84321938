#pragma once

#include <functional>

namespace attune::bench {

/// Seconds that one call of `work` takes: the median of many, after two to warm up, in about `budget` seconds. Calls
/// that are too short for the clock are timed several at a time.
double median_seconds(const std::function<void()>& work, double budget = 0.15);

}  // namespace attune::bench
