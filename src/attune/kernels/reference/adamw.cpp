#include "attune/kernels/reference/adamw.h"

#include <cmath>

namespace attune::kernels {

void adamw(const AdamWRule& rule, AdamWValues<double> values) {
  const auto step = static_cast<double>(rule.step);
  const double step_size = rule.learning_rate / (1 - std::pow(rule.beta1, step));
  const double root = std::sqrt(1 - std::pow(rule.beta2, step));
  for (std::size_t i = 0; i < values.parameter.size(); ++i) {
    const double g = values.gradient[i] * rule.gradient_factor;
    double &p = values.parameter[i], &m = values.first[i], &v = values.second[i];
    p *= 1 - rule.learning_rate * rule.weight_decay;
    m += (1 - rule.beta1) * (g - m);
    v = rule.beta2 * v + (1 - rule.beta2) * g * g;
    p -= step_size * m / (std::sqrt(v) / root + rule.epsilon);
  }
}

double squared_norm(std::span<const double> x) {
  double sum = 0;
  for (double v : x) sum += v * v;
  return sum;
}

void scale_in_place(double factor, std::span<double> x) {
  for (double& v : x) v *= factor;
}

}  // namespace attune::kernels
