#include "attune/bench/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace attune::bench {

double median_seconds(const std::function<void()>& work, double budget) {
  auto seconds_of = [&](int calls) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  work();
  const double once = std::max(seconds_of(1), 1e-8);
  const int calls = std::max(1, static_cast<int>(20e-6 / once));
  const int samples = std::clamp(static_cast<int>(budget / (once * calls)), 5, 5000);
  std::vector<double> all;
  for (int i = 0; i < samples; ++i) all.push_back(seconds_of(calls) / calls);
  std::nth_element(all.begin(), all.begin() + samples / 2, all.end());
  return all[static_cast<std::size_t>(samples / 2)];
}

}  // namespace attune::bench
