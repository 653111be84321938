#include "attune/bench/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace attune::bench {

namespace {

double seconds_of(const std::function<void()>& work, int calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

double median_seconds(const std::function<void()>& work, double budget) {
  work();
  const double once = std::max(seconds_of(work, 1), 1e-8);
  const int calls = std::max(1, static_cast<int>(20e-6 / once));
  const int samples = std::clamp(static_cast<int>(budget / (once * calls)), 5, 5000);
  std::vector<double> all;
  for (int i = 0; i < samples; ++i) all.push_back(seconds_of(work, calls) / calls);
  std::nth_element(all.begin(), all.begin() + samples / 2, all.end());
  return all[static_cast<std::size_t>(samples / 2)];
}

double shortest_seconds(const std::function<void()>& work, int calls) {
  double best = seconds_of(work, 1);
  for (int i = 1; i < calls; ++i) best = std::min(best, seconds_of(work, 1));
  return best;
}

}  // namespace attune::bench
