#include "attune/kernels/reference/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attune::kernels {

namespace {

struct ValueAndSlope {
  double value, slope;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

ValueAndSlope evaluate(double x, Activation kind) {
  switch (kind) {
    case Activation::relu:
      return {x < 0 ? 0 : x, x > 0 ? 1.0 : 0.0};
    case Activation::gelu: {
      double cdf = 0.5 * std::erfc(-x / std::numbers::sqrt2);
      double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
      return {x * cdf, cdf + x * density};
    }
    case Activation::gelu_tanh: {
      double root = std::sqrt(2 / std::numbers::pi);
      double t = std::tanh(root * (x + 0.044715 * x * x * x));
      return {0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x)};
    }
    case Activation::silu: {
      double s = sigmoid(x);
      return {x * s, s * (1 + x * (1 - s))};
    }
    case Activation::tanh: {
      double t = std::tanh(x);
      return {t, 1 - t * t};
    }
    case Activation::sigmoid: {
      double s = sigmoid(x);
      return {s, s * (1 - s)};
    }
    case Activation::log_sigmoid:
      return {std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x))), sigmoid(-x)};
    case Activation::elu_plus_one:
      return x > 0 ? ValueAndSlope{x + 1, 1} : ValueAndSlope{std::exp(x), std::exp(x)};
  }
  return {0, 0};
}

}  // namespace

void activation(Rows<const double> x, Activation kind, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) y[t][c] = evaluate(x[t][c], kind).value;
}

void activation_backward(Rows<const double> x, Rows<const double> dy, Activation kind, Rows<double> dx) {
  for (std::int64_t t = 0; t < dx.count; ++t)
    for (std::int64_t c = 0; c < dx.width; ++c) dx[t][c] = dy[t][c] * evaluate(x[t][c], kind).slope;
}

void gated(Rows<const double> gate, Rows<const double> up, Activation kind, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) y[t][c] = evaluate(gate[t][c], kind).value * up[t][c];
}

void gated_backward(Rows<const double> gate, Rows<const double> up, Rows<const double> dy, Activation kind,
                    GatedGradient<double> d) {
  for (std::int64_t t = 0; t < dy.count; ++t)
    for (std::int64_t c = 0; c < dy.width; ++c) {
      ValueAndSlope f = evaluate(gate[t][c], kind);
      double through = dy[t][c] * up[t][c] * f.slope;
      d.up[t][c] = dy[t][c] * f.value;
      d.gate[t][c] = through;
    }
}

}  // namespace attune::kernels
