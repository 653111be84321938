#include "attune/evaluate/binomial.h"

#include <cmath>

#include "attune/base/error.h"

namespace attune::evaluate {

namespace {

/// The continued fraction of I_x(a, b) by Lentz's method; converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  auto away_from_zero = [](double value) { return std::fabs(value) < tiny ? tiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= d * c;
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  return result;
}

/// log of the gamma function; std::lgamma writes a global sign, which is a race between threads.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  check(a > 0 && b > 0 && x >= 0 && x <= 1, "incomplete beta: a {}, b {}, x {}", a, b, x);
  if (x == 0 || x == 1) return x;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double clopper_pearson_upper(std::int64_t events, std::int64_t trials, double confidence) {
  check(events >= 0 && events <= trials, "upper bound: {} events in {} trials", events, trials);
  check(confidence > 0 && confidence < 1, "upper bound: confidence {} is not between 0 and 1", confidence);
  if (events == trials) return 1;
  if (events == 0) return 1 - std::pow(1 - confidence, 1 / static_cast<double>(trials));
  // The p at which `events` or fewer have probability 1 - confidence: I_p(events + 1, trials - events) = confidence.
  double low = static_cast<double>(events) / static_cast<double>(trials), high = 1;
  for (int step = 0; step < 60 && high - low > 1e-14; ++step) {
    const double middle = (low + high) / 2;
    const bool below =
        incomplete_beta(static_cast<double>(events + 1), static_cast<double>(trials - events), middle) < confidence;
    (below ? low : high) = middle;
  }
  return high;
}

}  // namespace attune::evaluate
