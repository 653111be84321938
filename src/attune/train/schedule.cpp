#include "attune/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attune/base/error.h"

namespace attune {

double Schedule::rate(std::int64_t step) const {
  auto now = static_cast<double>(step - 1), warmup = static_cast<double>(warmup_steps);
  if (now < warmup) return learning_rate * now / std::max(1.0, warmup);
  double left = std::max(1.0, static_cast<double>(total_steps) - warmup);
  double progress = std::min(1.0, (now - warmup) / left);
  switch (shape) {
    case Shape::constant:
      return learning_rate;
    case Shape::linear:
      return learning_rate * (1 - progress);
    case Shape::cosine:
      return learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * progress));
    case Shape::inverse_sqrt: {
      // transformers' default timescale is the warm-up, or 10,000 steps without one.
      double timescale = warmup > 0 ? warmup : 10000, shift = timescale - warmup;
      return learning_rate / std::sqrt((now + shift) / timescale);
    }
  }
  return learning_rate;
}

Schedule::Shape Schedule::parse(const std::string& name) {
  if (name == "constant") return Shape::constant;
  if (name == "linear") return Shape::linear;
  if (name == "cosine") return Shape::cosine;
  if (name == "inverse_sqrt") return Shape::inverse_sqrt;
  fail("schedule \"{}\": expected one of constant, linear, cosine, inverse_sqrt", name);
}

}  // namespace attune
