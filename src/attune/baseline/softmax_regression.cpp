#include "attune/baseline/softmax_regression.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "attune/base/error.h"
#include "attune/base/threads.h"

namespace attune {
namespace {

constexpr int kBlock = 8;  // classes that one pass over X takes together: a cache line of doubles
constexpr std::int64_t kRows =
    512;  // rows, features and elements a piece of work: sums are taken within it, then over pieces
constexpr std::int64_t kFeatures = 4096;
constexpr std::int64_t kElements = 1 << 16;
constexpr std::size_t kHistory = 8;  // pairs that L-BFGS remembers

using Values = std::vector<double>;

// Sum over pieces of [0, count): piece(begin, end) gives one piece's sum.
template <class Piece>
double sum_of_pieces(std::int64_t count, std::int64_t grain, const Piece& piece) {
  Values sums(static_cast<std::size_t>((count + grain - 1) / grain));
  parallel(count, grain, [&](std::int64_t begin, std::int64_t end) {
    sums[static_cast<std::size_t>(begin / grain)] = piece(begin, end);
  });
  double sum = 0;
  for (double one : sums) sum += one;
  return sum;
}

double dot(const Values& x, const Values& y) {
  return sum_of_pieces(static_cast<std::int64_t>(x.size()), kElements, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) sum += x[i] * y[i];
    return sum;
  });
}

// y = scale * y + factor * x
void combine(Values& y, double scale, double factor, const Values& x) {
  parallel(static_cast<std::int64_t>(y.size()), kElements, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      y[i] = scale * y[i] + factor * x[i];
  });
}

/// W = X' a and a bias, as a and the scores z = X W.
struct Point {
  Values a, z;  // [n, classes]
  Values bias;  // [classes]

  Point(std::size_t n, std::size_t classes) : a(n * classes), z(n * classes), bias(classes) {}
  void add(double scale, double factor, const Point& other) {  // this = scale * this + factor * other
    combine(a, scale, factor, other.a);
    combine(z, scale, factor, other.z);
    combine(bias, scale, factor, other.bias);
  }
};
double weights_dot(const Point& x, const Point& y) { return dot(x.a, y.z); }
double inner(const Point& x, const Point& y) { return weights_dot(x, y) + dot(x.bias, y.bias); }

class Solver {
 public:
  Solver(const SparseRows& x, std::span<const int> targets, int classes)
      : x_(x),
        by_feature_(transposed(x)),
        targets_(targets),
        classes_(classes),
        n_(x.rows()),
        point_(size(), static_cast<std::size_t>(classes)),
        gradient_(size(), static_cast<std::size_t>(classes)),
        residual_(size() * static_cast<std::size_t>(classes)) {}

  void minimise(double c, const SoftmaxRegressionOptions& options, const Run& run);
  std::vector<float> weights() const;  // [features, classes]
  const Values& bias() const { return point_.bias; }
  int iterations() const { return iterations_; }

 private:
  struct Pair {
    Point step, change;  // of the point and of the gradient
    double rho;          // 1 / <step, change>
  };
  struct OnLine {
    double loss, slope;
  };

  std::size_t size() const { return static_cast<std::size_t>(n_); }
  double residuals();
  void gram(const Values& in, Values& out);
  double gradient_at_point();
  void direction(Point& d) const;
  OnLine on_line(const Point& d, double t) const;
  double search(const Point& d, const OnLine& start, double first) const;

  const SparseRows& x_;
  SparseRows by_feature_;
  std::span<const int> targets_;
  int classes_;
  std::int64_t n_;
  double lambda_ = 0, first_length_ = 0;
  int iterations_ = 0;
  Point point_, gradient_;
  Values residual_;         // [n, classes]: (p - y) / n
  Values block_in_, sums_;  // [n, kBlock], [features, kBlock]
  std::deque<Pair> history_;
};

// p of one row into `p`; returns log(sum exp) - score of the target.
double softmax_row(const double* scores, const double* bias, int classes, int target, double* p) {
  double largest = scores[0] + bias[0];
  for (int k = 0; k < classes; ++k) largest = std::max(largest, p[k] = scores[k] + bias[k]);
  double aim = p[target], sum = 0;
  for (int k = 0; k < classes; ++k) sum += p[k] = std::exp(p[k] - largest);
  for (int k = 0; k < classes; ++k) p[k] /= sum;
  return std::log(sum) + largest - aim;
}

// Fills residual_ at the point and returns the mean loss without the penalty.
double Solver::residuals() {
  const auto k = static_cast<std::int64_t>(classes_);
  return sum_of_pieces(n_, kRows,
                       [&](std::int64_t begin, std::int64_t end) {
                         double loss = 0;
                         for (std::int64_t i = begin; i < end; ++i) {
                           double* p = residual_.data() + i * k;
                           int target = targets_[static_cast<std::size_t>(i)];
                           loss += softmax_row(point_.z.data() + i * k, point_.bias.data(), classes_, target, p);
                           p[target] -= 1;
                           for (std::int64_t j = 0; j < k; ++j) p[j] /= static_cast<double>(n_);
                         }
                         return loss;
                       }) /
         static_cast<double>(n_);
}

// out = X X' in, [n, classes], a block of classes at a time so that what is read at random stays in the cache.
void Solver::gram(const Values& in, Values& out) {
  block_in_.resize(size() * kBlock);
  sums_.resize(static_cast<std::size_t>(x_.width) * kBlock);
  auto multiply = [](const SparseRows& matrix, std::int64_t row, const double* from, double* sum) {
    std::fill(sum, sum + kBlock, 0.0);
    for (std::int64_t i = matrix.offsets[static_cast<std::size_t>(row)];
         i < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++i) {
      const double* other = from + static_cast<std::int64_t>(matrix.columns[static_cast<std::size_t>(i)]) * kBlock;
      double value = matrix.values[static_cast<std::size_t>(i)];
      for (int k = 0; k < kBlock; ++k) sum[k] += value * other[k];
    }
  };
  for (int first = 0; first < classes_; first += kBlock) {
    int width = std::min(kBlock, classes_ - first);
    parallel(n_, kRows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        for (int k = 0; k < kBlock; ++k)
          block_in_[static_cast<std::size_t>(i * kBlock + k)] =
              k < width ? in[static_cast<std::size_t>(i * classes_ + first + k)] : 0;
    });
    parallel(x_.width, kFeatures, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t f = begin; f < end; ++f) multiply(by_feature_, f, block_in_.data(), sums_.data() + f * kBlock);
    });
    parallel(n_, kRows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        double sum[kBlock];
        multiply(x_, i, sums_.data(), sum);
        std::copy(sum, sum + width, out.begin() + i * classes_ + first);
      }
    });
  }
}

// Fills gradient_ and returns its length. In W it is X' residual + lambda W, whose scores are X X' residual + lambda Z.
double Solver::gradient_at_point() {
  residuals();
  gram(residual_, gradient_.z);
  gradient_.a = residual_;
  combine(gradient_.a, 1, lambda_, point_.a);
  combine(gradient_.z, 1, lambda_, point_.z);
  std::fill(gradient_.bias.begin(), gradient_.bias.end(), 0.0);
  for (std::size_t i = 0; i < size(); ++i)
    for (std::size_t k = 0; k < gradient_.bias.size(); ++k)
      gradient_.bias[k] += residual_[i * gradient_.bias.size() + k];
  return std::sqrt(std::max(0.0, inner(gradient_, gradient_)));
}

// d = -H gradient, by the two loops over the remembered pairs.
void Solver::direction(Point& d) const {
  d = gradient_;
  Values alpha(history_.size());
  for (std::size_t i = history_.size(); i-- > 0;) {
    alpha[i] = history_[i].rho * inner(history_[i].step, d);
    d.add(1, -alpha[i], history_[i].change);
  }
  double scale = 1;
  if (!history_.empty()) scale = 1 / (history_.back().rho * inner(history_.back().change, history_.back().change));
  d.add(scale, 0, d);
  for (std::size_t i = 0; i < history_.size(); ++i) {
    double beta = history_[i].rho * inner(history_[i].change, d);
    d.add(1, alpha[i] - beta, history_[i].step);
  }
  d.add(-1, 0, d);
}

// Loss and slope at point + t d. The scores there are z + t d.z: no pass over X.
Solver::OnLine Solver::on_line(const Point& d, double t) const {
  const auto k = static_cast<std::int64_t>(classes_);
  Values slopes(static_cast<std::size_t>((n_ + kRows - 1) / kRows));
  double loss = sum_of_pieces(n_, kRows, [&](std::int64_t begin, std::int64_t end) {
    Values scores(static_cast<std::size_t>(k)), p(static_cast<std::size_t>(k)), zero(static_cast<std::size_t>(k));
    double sum = 0, slope = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      int target = targets_[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < k; ++j) {
        auto at = static_cast<std::size_t>(i * k + j), of = static_cast<std::size_t>(j);
        scores[of] = point_.z[at] + point_.bias[of] + t * (d.z[at] + d.bias[of]);
      }
      sum += softmax_row(scores.data(), zero.data(), classes_, target, p.data());
      p[static_cast<std::size_t>(target)] -= 1;
      for (std::int64_t j = 0; j < k; ++j)
        slope += p[static_cast<std::size_t>(j)] *
                 (d.z[static_cast<std::size_t>(i * k + j)] + d.bias[static_cast<std::size_t>(j)]);
    }
    slopes[static_cast<std::size_t>(begin / kRows)] = slope;
    return sum;
  });
  double slope = 0;
  for (double one : slopes) slope += one;
  double xx = weights_dot(point_, point_), xd = weights_dot(point_, d), dd = weights_dot(d, d),
         n = static_cast<double>(n_);
  return {loss / n + lambda_ / 2 * (xx + 2 * t * xd + t * t * dd), slope / n + lambda_ * (xd + t * dd)};
}

// A step that meets the strong Wolfe conditions (1e-4, 0.5). The loss is convex, so the slope grows along the line and
// its sign says on which side the minimum lies.
double Solver::search(const Point& d, const OnLine& start, double first) const {
  double low = 0, low_slope = start.slope, high = 0, high_slope = 0, t = first;
  for (int tries = 0; tries < 40; ++tries) {
    OnLine now = on_line(d, t);
    bool enough = now.loss <= start.loss + 1e-4 * t * start.slope + 1e-14 * std::abs(start.loss);
    if (enough && std::abs(now.slope) <= -0.5 * start.slope) return t;
    if (now.slope > 0 || !enough)
      high = t, high_slope = now.slope;
    else
      low = t, low_slope = now.slope;
    if (high == 0) {
      t *= 3;
      continue;
    }
    double secant = high_slope > 0 ? low - low_slope * (high - low) / (high_slope - low_slope) : (low + high) / 2;
    t = std::clamp(secant, low + 0.1 * (high - low), high - 0.1 * (high - low));
  }
  return low;  // rounding hides any further progress
}

void Solver::minimise(double c, const SoftmaxRegressionOptions& options, const Run& run) {
  check(c > 0 && std::isfinite(c), "logistic regression: C must be positive, got {}", c);
  lambda_ = 1 / (c * static_cast<double>(n_));
  history_.clear();
  double length = gradient_at_point();
  if (first_length_ == 0) first_length_ = length;
  Point d(0, 0);
  for (iterations_ = 0; iterations_ < options.max_iterations && length > options.tolerance * first_length_;
       ++iterations_) {
    if (run.cancelled()) throw Cancelled("fitting the linear baseline was stopped");
    run.report({"fitting the linear baseline", iterations_, 0, "iterations",
                fmt::format("C {:g}, gradient {:.2g}", c, length / first_length_)});
    direction(d);
    OnLine start = on_line(d, 0);
    double t = search(d, start, history_.empty() ? std::min(1.0, 1 / length) : 1.0);
    if (t == 0) break;
    Pair pair{d, gradient_, 0};
    point_.add(1, t, d);
    length = gradient_at_point();
    pair.step.add(t, 0, pair.step);
    pair.change.add(-1, 1, gradient_);
    double curvature = inner(pair.step, pair.change);
    if (curvature <= 0) break;  // rounding: no further progress
    pair.rho = 1 / curvature;
    if (history_.size() == kHistory) history_.pop_front();
    history_.push_back(std::move(pair));
  }
}

std::vector<float> Solver::weights() const {
  std::vector<float> out(static_cast<std::size_t>(x_.width) * static_cast<std::size_t>(classes_));
  parallel(x_.width, kFeatures, [&](std::int64_t begin, std::int64_t end) {
    Values sum(static_cast<std::size_t>(classes_));
    for (std::int64_t f = begin; f < end; ++f) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::int64_t i = by_feature_.offsets[static_cast<std::size_t>(f)];
           i < by_feature_.offsets[static_cast<std::size_t>(f) + 1]; ++i) {
        const double* a =
            point_.a.data() + static_cast<std::int64_t>(by_feature_.columns[static_cast<std::size_t>(i)]) * classes_;
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += by_feature_.values[static_cast<std::size_t>(i)] * a[k];
      }
      std::transform(sum.begin(), sum.end(), out.begin() + f * classes_,
                     [](double w) { return static_cast<float>(w); });
    }
  });
  return out;
}

}  // namespace

std::vector<SoftmaxRegression> SoftmaxRegression::fit_path(const SparseRows& x, std::span<const int> targets,
                                                           int classes, std::span<const double> cs,
                                                           const SoftmaxRegressionOptions& options, const Run& run) {
  check(x.rows() > 0 && x.rows() == static_cast<std::int64_t>(targets.size()),
        "logistic regression: {} rows and {} targets", x.rows(), targets.size());
  check(classes >= 2, "logistic regression: {} class: nothing to tell apart", classes);
  for (int target : targets)
    check(target >= 0 && target < classes, "logistic regression: target {} is not below the {} classes", target,
          classes);
  Solver solver(x, targets, classes);
  std::vector<SoftmaxRegression> models;
  for (double c : cs) {
    solver.minimise(c, options, run);
    SoftmaxRegression model;
    model.features_ = x.width;
    model.weights_ = solver.weights();
    model.bias_ = solver.bias();
    model.iterations_ = solver.iterations();
    models.push_back(std::move(model));
  }
  return models;
}

SoftmaxRegression SoftmaxRegression::fit(const SparseRows& x, std::span<const int> targets, int classes,
                                         const SoftmaxRegressionOptions& options, const Run& run) {
  return std::move(fit_path(x, targets, classes, {&options.c, 1}, options, run).front());
}

std::vector<double> SoftmaxRegression::probabilities(const SparseRows& x) const {
  check(x.width == features_, "logistic regression: rows of {} features, the model was fitted on {}", x.width,
        features_);
  const auto k = bias_.size();
  std::vector<double> out(static_cast<std::size_t>(x.rows()) * k);
  parallel(x.rows(), kRows, [&](std::int64_t begin, std::int64_t end) {
    Values scores(k);
    for (std::int64_t i = begin; i < end; ++i) {
      std::fill(scores.begin(), scores.end(), 0.0);
      for (std::int64_t j = x.offsets[static_cast<std::size_t>(i)]; j < x.offsets[static_cast<std::size_t>(i) + 1];
           ++j) {
        const float* w = weights_.data() + static_cast<std::size_t>(x.columns[static_cast<std::size_t>(j)]) * k;
        for (std::size_t c = 0; c < k; ++c)
          scores[c] += x.values[static_cast<std::size_t>(j)] * static_cast<double>(w[c]);
      }
      softmax_row(scores.data(), bias_.data(), static_cast<int>(k), 0, out.data() + static_cast<std::size_t>(i) * k);
    }
  });
  return out;
}

}  // namespace attune
