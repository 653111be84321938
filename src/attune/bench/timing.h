#pragma once

#include <functional>

namespace attune::bench {

/// Seconds that one call of `work` takes: the median of many, after two to warm up, in about `budget` seconds. Calls
/// that are too short for the clock are timed several at a time.
double median_seconds(const std::function<void()>& work, double budget = 0.15);

/// The shortest of so many calls: for what is held against read_rate(), which is measured so.
double shortest_seconds(const std::function<void()>& work, int calls);

}  // namespace attune::bench
