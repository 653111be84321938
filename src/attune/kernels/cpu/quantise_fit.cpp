#include "attune/kernels/cpu/quantise_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::kernels {

float inverse_of(float x) {
  const float inverse = 1 / x;
  return std::isfinite(inverse) ? inverse : 0;
}

namespace {

constexpr int rounds = 3;  // of: codes for the scale, then the best scale for the codes

/// The best scale so far: the one that takes most away from the sum of squares. For codes q it takes (sum x q)^2 / sum
/// q^2.
struct BestScale {
  double gain = 0;
  float scale = 0;

  void consider(std::span<const float> x, float inverse, float lowest, float highest) {
    double products = 0, squares = 0;
    for (float v : x) {
      const float q = nearest_code(v * inverse, lowest, highest);
      products += static_cast<double>(v * q), squares += static_cast<double>(q * q);
    }
    if (squares == 0 || products * products <= gain * squares) return;
    gain = products * products / squares;
    scale = static_cast<float>(products / squares);
  }
};

}  // namespace

float fit_scale(std::span<const float> x, int lowest, int highest) {
  float extreme = 0;
  for (float v : x)
    if (std::abs(v) > std::abs(extreme)) extreme = v;
  const float inverse = inverse_of(extreme);
  if (inverse == 0) return 0;
  BestScale best;
  const auto low = static_cast<float>(lowest), high = static_cast<float>(highest);
  // The extreme value at either end of the codes, before the end or cut off by it.
  for (float end : {low, high})
    for (float stretch = 0.80f; stretch < 1.37f; stretch += 0.035f)
      best.consider(x, end * stretch * inverse, low, high);
  for (int i = 0; i < rounds; ++i) best.consider(x, inverse_of(best.scale), low, high);
  return best.scale;
}

namespace {

/// The same for a scale and an addend, by least squares in both.
struct BestAffine {
  Addend addends;
  double error = std::numeric_limits<double>::infinity();
  AffineFit fit{};

  void consider(std::span<const float> x, float from, float inverse, float highest) {
    double n = static_cast<double>(x.size()), sx = 0, sq = 0, sxx = 0, sxq = 0, sqq = 0;
    for (float v : x) {
      const float q = nearest_code((v - from) * inverse, 0, highest);
      sx += static_cast<double>(v), sq += static_cast<double>(q);
      sxx += static_cast<double>(v * v), sxq += static_cast<double>(v * q), sqq += static_cast<double>(q * q);
    }
    const double determinant = n * sqq - sq * sq;
    if (sqq == 0) return;
    double scale = determinant > 0 ? (n * sxq - sx * sq) / determinant : 0;
    double addend = (sx - scale * sq) / n;
    if (addends == Addend::at_most_zero && addend > 0) scale = sxq / sqq, addend = 0;
    if (scale <= 0) return;
    const double left =
        sxx + scale * scale * sqq + n * addend * addend - 2 * scale * sxq - 2 * addend * sx + 2 * scale * addend * sq;
    if (left >= error) return;
    error = left, fit = {static_cast<float>(scale), static_cast<float>(addend)};
  }
};

}  // namespace

AffineFit fit_affine(std::span<const float> x, int highest, Addend addends) {
  auto [smallest, largest] = std::minmax_element(x.begin(), x.end());
  float low = *smallest, high = *largest;
  if (addends == Addend::at_most_zero) low = std::min(low, 0.0f);
  const auto steps = static_cast<float>(highest);
  if (inverse_of(high - low) == 0) return {0, low};
  BestAffine best{addends};
  const float step = (high - low) / steps;
  // So many steps cut off at either end.
  for (float below : {0.0f, 0.4f, 0.8f, 1.3f})
    for (float above : {0.0f, 0.4f, 0.8f, 1.3f})
      best.consider(x, low + below * step, inverse_of(step * (1 - (below + above) / steps)), steps);
  for (int i = 0; i < rounds; ++i) best.consider(x, best.fit.addend, inverse_of(best.fit.scale), steps);
  return best.fit.scale > 0 ? best.fit : AffineFit{step, low};
}

double encode_affine(std::span<const float> x, AffineFit fit, int lowest, int highest, float* codes) {
  const float inverse = inverse_of(fit.scale);
  double error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    codes[i] = nearest_code((x[i] - fit.addend) * inverse, static_cast<float>(lowest), static_cast<float>(highest));
    const auto difference = static_cast<double>(x[i] - (fit.scale * codes[i] + fit.addend));
    error += difference * difference;
  }
  return error;
}

}  // namespace attune::kernels
