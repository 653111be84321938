// Vaswani et al. 2017, section 3.2.1, footnote 4: for independent unit normal q and k, q.k has variance d_k, and large
// scores push the softmax to where its gradient vanishes.
#include <cmath>

#include "attune/base/random.h"
#include "attune/workflows/demo/demo.h"

namespace attune {

namespace {

struct Observed {
  double variance = 0;  // of the scores
  double gradient = 0;  // mean over keys of p (1 - p): the softmax's own derivative
};

Observed observe(std::int64_t d_k, bool scaled, std::uint64_t seed) {
  constexpr std::int64_t queries = 200, keys = 64;
  RandomStream random(RandomKey{.seed = seed}.at("demo scale").at(static_cast<std::uint64_t>(d_k)));
  Observed seen;
  std::vector<double> scores(keys);
  for (std::int64_t i = 0; i < queries; ++i) {
    double largest = -1e300, sum = 0;
    for (double& score : scores) {
      score = 0;
      for (std::int64_t c = 0; c < d_k; ++c) score += random.normal() * random.normal();
      if (scaled) score /= std::sqrt(static_cast<double>(d_k));
      largest = std::max(largest, score);
      seen.variance += score * score / static_cast<double>(queries * keys);
    }
    for (double score : scores) sum += std::exp(score - largest);
    for (double score : scores) {
      double p = std::exp(score - largest) / sum;
      seen.gradient += p * (1 - p) / static_cast<double>(queries);
    }
  }
  return seen;
}

}  // namespace

DemoResult demo_scale(std::uint64_t seed, const Run&) {
  DemoResult result{.claim =
                        "q.k of unit normal vectors has variance d_k; divided by sqrt(d_k) it has variance 1, and the "
                        "softmax keeps its gradient"};
  result.holds = true;
  for (std::int64_t d_k : {16, 64, 256}) {
    Observed plain = observe(d_k, false, seed), scaled = observe(d_k, true, seed);
    std::string at = " at d_k = " + std::to_string(d_k);
    result.figures.push_back({"variance of the scores, unscaled," + at, plain.variance});
    result.figures.push_back({"variance of the scores, scaled," + at, scaled.variance});
    result.figures.push_back({"softmax gradient (sum of p (1 - p)), unscaled," + at, plain.gradient});
    result.figures.push_back({"softmax gradient (sum of p (1 - p)), scaled," + at, scaled.gradient});
    auto d = static_cast<double>(d_k);
    result.holds = result.holds && std::abs(plain.variance / d - 1) < 0.15 && std::abs(scaled.variance - 1) < 0.15 &&
                   scaled.gradient > 1.5 * plain.gradient;
  }
  return result;
}

}  // namespace attune
