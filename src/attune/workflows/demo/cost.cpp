// Vaswani et al. 2017, table 1: self-attention costs O(n^2 d) a layer.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "attune/workflows/demo/attention_parts.h"
#include "attune/workflows/demo/demo.h"

namespace attune {

DemoResult demo_cost(std::uint64_t seed, const Run& run) {
  DemoResult result{.claim = "twice the length takes four times the work: the time fits n to a power near 2"};
  std::vector<std::int64_t> lengths = {1024, 2048, 4096, 8192};
  std::vector<double> logs_n, logs_t;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (run.cancelled()) break;
    Tensor x = demo_values({lengths[i], 4, 64}, seed, "demo cost");
    double best = 1e300;  // the least of a few: what the machine does when nothing disturbs it
    for (int trial = 0; trial < 5; ++trial) {
      auto began = std::chrono::steady_clock::now();
      demo_self_attention(x, bidirectional());
      best =
          std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    }
    result.figures.push_back({"milliseconds at " + std::to_string(lengths[i]) + " tokens", best});
    logs_n.push_back(std::log(static_cast<double>(lengths[i])));
    logs_t.push_back(std::log(best));
    run.report({.doing = "measuring",
                .done = static_cast<std::int64_t>(i) + 1,
                .total = static_cast<std::int64_t>(lengths.size()),
                .unit = "lengths",
                .detail = ""});
  }
  double mean_n = 0, mean_t = 0, above = 0, below = 0;
  auto count = static_cast<double>(logs_n.size());
  for (std::size_t i = 0; i < logs_n.size(); ++i) mean_n += logs_n[i] / count, mean_t += logs_t[i] / count;
  for (std::size_t i = 0; i < logs_n.size(); ++i) {
    above += (logs_n[i] - mean_n) * (logs_t[i] - mean_t);
    below += (logs_n[i] - mean_n) * (logs_n[i] - mean_n);
  }
  double exponent = below > 0 ? above / below : 0;
  result.figures.push_back({"exponent of n that fits the times", exponent});
  result.holds = exponent > 1.6 && exponent < 2.4;
  return result;
}

}  // namespace attune
