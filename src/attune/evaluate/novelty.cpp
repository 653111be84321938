#include "attune/evaluate/novelty.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attune/base/error.h"
#include "attune/base/threads.h"

namespace attune::evaluate {

namespace {

const char* const method_names[] = {"mahalanobis", "neighbours"};

NoveltyModel::Array array(std::string name, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  return {std::move(name), std::move(shape), std::vector<float>(values.begin(), values.end())};
}

/// The row over its length; zeros stay zeros.
std::vector<float> normalised(std::span<const double> row) {
  double square = 0;
  for (const double value : row) square += value * value;
  const double scale = square > 0 ? 1 / std::sqrt(square) : 0;
  std::vector<float> out;
  for (const double value : row) out.push_back(static_cast<float>(value * scale));
  return out;
}

/// Eight partial sums, so that the compiler may keep them in one vector register.
float dot(const float* a, const float* b, std::int64_t width) {
  float sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= width; i += 8)
    for (int lane = 0; lane < 8; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  float rest = 0;
  for (; i < width; ++i) rest += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest;
}

/// In place: the lower triangle becomes L with L L' = matrix. `matrix` is symmetric and positive definite.
void cholesky(std::vector<double>& matrix, std::int64_t n) {
  auto at = [&](std::int64_t r, std::int64_t c) -> double& { return matrix[static_cast<std::size_t>(r * n + c)]; };
  for (std::int64_t c = 0; c < n; ++c) {
    for (std::int64_t r = c; r < n; ++r) {
      double sum = at(r, c);
      for (std::int64_t k = 0; k < c; ++k) sum -= at(r, k) * at(c, k);
      if (r == c) check(sum > 0, "novelty: the embeddings' covariance is not positive definite (column {})", c);
      at(r, c) = r == c ? std::sqrt(sum) : sum / at(c, c);
    }
    for (std::int64_t r = 0; r < c; ++r) at(r, c) = 0;
  }
}

/// |L^-1 x|^2 = x' (L L')^-1 x by forward substitution; `x` is overwritten.
double squared_length_under(std::span<const float> factor, std::vector<double>& x) {
  const std::size_t n = x.size();
  double square = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const float* row = factor.data() + r * n;
    double sum = x[r];
    for (std::size_t k = 0; k < r; ++k) sum -= static_cast<double>(row[k]) * x[k];
    x[r] = sum / static_cast<double>(row[r]);
    square += x[r] * x[r];
  }
  return square;
}

struct Means {
  std::vector<double> values;  // [classes that occur, width]
  std::vector<std::size_t> row_of_class;
};

Means class_means(const ScoreTable& embeddings, std::span<const int> classes) {
  Means out;
  std::vector<std::int64_t> documents(static_cast<std::size_t>(*std::max_element(classes.begin(), classes.end())) + 1);
  for (const int c : classes) ++documents[static_cast<std::size_t>(c)];
  std::size_t rows = 0;
  for (const std::int64_t n : documents) out.row_of_class.push_back(n ? rows++ : rows);
  const auto width = static_cast<std::size_t>(embeddings.width);
  out.values.resize(rows * width);
  for (std::int64_t i = 0; i < embeddings.rows(); ++i) {
    const auto c = static_cast<std::size_t>(classes[static_cast<std::size_t>(i)]);
    const auto x = embeddings.row(i);
    for (std::size_t k = 0; k < width; ++k)
      out.values[out.row_of_class[c] * width + k] += x[k] / static_cast<double>(documents[c]);
  }
  return out;
}

std::vector<NoveltyModel::Array> fit_mahalanobis(const ScoreTable& embeddings, std::span<const int> classes,
                                                 double shrinkage) {
  check(shrinkage > 0 && shrinkage <= 1, "novelty: shrinkage {} is not above 0 and at most 1", shrinkage);
  const auto width = static_cast<std::size_t>(embeddings.width);
  const Means means = class_means(embeddings, classes);
  std::vector<double> covariance(width * width), x(width);
  for (std::int64_t i = 0; i < embeddings.rows(); ++i) {
    const std::size_t mean = means.row_of_class[static_cast<std::size_t>(classes[static_cast<std::size_t>(i)])] * width;
    for (std::size_t k = 0; k < width; ++k) x[k] = embeddings.row(i)[k] - means.values[mean + k];
    for (std::size_t r = 0; r < width; ++r)
      for (std::size_t c = 0; c <= r; ++c) covariance[r * width + c] += x[r] * x[c];
  }
  const double n = static_cast<double>(embeddings.rows());
  double variance = 0;
  for (std::size_t r = 0; r < width; ++r) variance += covariance[r * width + r] / n / static_cast<double>(width);
  // Embeddings that are all equal have no spread: any positive number keeps S usable.
  const double floor = variance > 0 ? shrinkage * variance : 1;
  for (std::size_t r = 0; r < width; ++r)
    for (std::size_t c = 0; c <= r; ++c) {
      double& value = covariance[r * width + c];
      value = (1 - shrinkage) * value / n + (r == c ? floor : 0);
      covariance[c * width + r] = value;
    }
  cholesky(covariance, embeddings.width);
  return {array("means", {static_cast<std::int64_t>(means.values.size() / width), embeddings.width}, means.values),
          array("factor", {embeddings.width, embeddings.width}, covariance)};
}

std::vector<NoveltyModel::Array> fit_neighbours(const ScoreTable& embeddings, const NoveltyOptions& options) {
  check(options.neighbours >= 1 && options.most_neighbours_kept > options.neighbours,
        "novelty: {} neighbours of at most {} documents", options.neighbours, options.most_neighbours_kept);
  check(embeddings.rows() >= options.neighbours, "novelty: {} training documents are too few for the {}-th neighbour",
        embeddings.rows(), options.neighbours);
  const std::int64_t step = (embeddings.rows() + options.most_neighbours_kept - 1) / options.most_neighbours_kept;
  NoveltyModel::Array bank{.name = "bank", .shape = {0, embeddings.width}, .values = {}};
  for (std::int64_t i = 0; i < embeddings.rows(); i += step, ++bank.shape[0]) {
    const std::vector<float> row = normalised(embeddings.row(i));
    bank.values.insert(bank.values.end(), row.begin(), row.end());
  }
  check(bank.shape[0] >= options.neighbours, "novelty: {} documents kept for the {}-th neighbour", bank.shape[0],
        options.neighbours);
  return {bank};
}

double mahalanobis_score(const std::vector<NoveltyModel::Array>& arrays, std::span<const double> row) {
  double smallest = std::numeric_limits<double>::infinity();
  std::vector<double> x(row.size());
  for (std::int64_t c = 0; c < arrays[0].shape[0]; ++c) {
    const float* mean = arrays[0].values.data() + static_cast<std::size_t>(c) * row.size();
    for (std::size_t k = 0; k < row.size(); ++k) x[k] = row[k] - static_cast<double>(mean[k]);
    smallest = std::min(smallest, squared_length_under(arrays[1].values, x));
  }
  return smallest;
}

double neighbour_score(const NoveltyModel::Array& bank, int neighbours, std::span<const double> row) {
  const std::vector<float> x = normalised(row);
  const auto width = static_cast<std::int64_t>(x.size());
  const bool zeros = std::all_of(x.begin(), x.end(), [](float value) { return value == 0; });
  if (zeros) return 1;
  std::vector<float> likeness;
  for (std::int64_t i = 0; i < bank.shape[0]; ++i)
    likeness.push_back(dot(x.data(), bank.values.data() + i * width, width));
  auto kth = likeness.begin() + (neighbours - 1);
  std::nth_element(likeness.begin(), kth, likeness.end(), std::greater<>());
  return std::sqrt(std::max(0.0, 2 - 2 * static_cast<double>(*kth)));  // |a - b|^2 = 2 - 2 a.b on the unit sphere
}

void check_no_nan(std::span<const double> scores, const std::string& what) {
  check(!scores.empty(), "novelty: there is no {} score", what);
  for (const double score : scores) check(!std::isnan(score), "novelty: a {} score is NaN", what);
}

}  // namespace

std::string novelty_method_name(NoveltyMethod method) { return method_names[static_cast<int>(method)]; }

NoveltyMethod novelty_method_named(const std::string& name) {
  for (int i = 0; i < 2; ++i)
    if (name == method_names[i]) return static_cast<NoveltyMethod>(i);
  fail("novelty method \"{}\": expected mahalanobis or neighbours", name);
}

NoveltyModel NoveltyModel::fit(NoveltyMethod method, const ScoreTable& embeddings, std::span<const int> classes,
                               const NoveltyOptions& options) {
  check_finite(embeddings, "novelty");
  check(embeddings.rows() > 0, "novelty: there is no training document");
  NoveltyModel out;
  out.method_ = method;
  out.width_ = embeddings.width;
  if (method == NoveltyMethod::neighbours) {
    out.neighbours_ = options.neighbours;
    out.arrays_ = fit_neighbours(embeddings, options);
    return out;
  }
  check(static_cast<std::int64_t>(classes.size()) == embeddings.rows(), "novelty: {} classes for {} documents",
        classes.size(), embeddings.rows());
  for (const int c : classes) check(c >= 0 && c < 1000000, "novelty: class {}", c);
  out.arrays_ = fit_mahalanobis(embeddings, classes, options.shrinkage);
  return out;
}

NoveltyModel NoveltyModel::restore(NoveltyMethod method, int neighbours, std::vector<Array> arrays) {
  const std::vector<std::string> names = method == NoveltyMethod::mahalanobis
                                             ? std::vector<std::string>{"means", "factor"}
                                             : std::vector<std::string>{"bank"};
  NoveltyModel out;
  out.method_ = method;
  out.neighbours_ = neighbours;
  for (const std::string& name : names) {
    auto found = std::find_if(arrays.begin(), arrays.end(), [&](const Array& one) { return one.name == name; });
    check(found != arrays.end(), "novelty ({}): the array \"{}\" is missing", novelty_method_name(method), name);
    check(found->shape.size() == 2 && found->shape[0] > 0 && found->shape[1] > 0 &&
              found->shape[0] <= static_cast<std::int64_t>(found->values.size()) / found->shape[1] &&
              found->shape[0] * found->shape[1] == static_cast<std::int64_t>(found->values.size()),
          "novelty: the array \"{}\" of {} values does not have the shape that it states", name, found->values.size());
    for (const float value : found->values) check(std::isfinite(value), "novelty: \"{}\" holds {}", name, value);
    out.arrays_.push_back(std::move(*found));
  }
  out.width_ = out.arrays_[0].shape[1];
  if (method == NoveltyMethod::neighbours) {
    check(neighbours >= 1 && neighbours <= out.arrays_[0].shape[0], "novelty: {} neighbours of {} documents",
          neighbours, out.arrays_[0].shape[0]);
    return out;
  }
  const Array& factor = out.arrays_[1];
  check(factor.shape[0] == out.width_ && factor.shape[1] == out.width_, "novelty: a factor of {} x {} for width {}",
        factor.shape[0], factor.shape[1], out.width_);
  for (std::int64_t r = 0; r < out.width_; ++r)
    check(factor.values[static_cast<std::size_t>(r * out.width_ + r)] > 0,
          "novelty: the factor's diagonal is not positive in row {}", r);
  return out;
}

std::vector<double> NoveltyModel::scores(const ScoreTable& embeddings) const {
  check_finite(embeddings, "novelty");
  check(embeddings.width == width_ || embeddings.values.empty(), "novelty: embeddings of width {}, fitted with {}",
        embeddings.width, width_);
  std::vector<double> out(static_cast<std::size_t>(embeddings.rows()));
  parallel(embeddings.rows(), 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      out[static_cast<std::size_t>(i)] = method_ == NoveltyMethod::mahalanobis
                                             ? mahalanobis_score(arrays_, embeddings.row(i))
                                             : neighbour_score(arrays_[0], neighbours_, embeddings.row(i));
  });
  return out;
}

std::vector<double> energy_scores(const ScoreTable& logits, double temperature) {
  check(temperature > 0 && std::isfinite(temperature), "energy: temperature {} is not positive", temperature);
  check_finite(logits, "energy");
  std::vector<double> out;
  for (std::int64_t i = 0; i < logits.rows(); ++i) {
    const auto z = logits.row(i);
    const double highest = *std::max_element(z.begin(), z.end());
    double sum = 0;
    for (const double value : z) sum += std::exp((value - highest) / temperature);
    out.push_back(-highest - temperature * std::log(sum));
  }
  return out;
}

double novelty_threshold(std::vector<double> scores, double share) {
  check_no_nan(scores, "validation");
  check(share > 0 && share < 1, "novelty: the share {} is not between 0 and 1", share);
  std::sort(scores.begin(), scores.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(scores.size() + 1) - 1e-9));
  return scores[std::min(rank, scores.size()) - 1];
}

Detection detection(std::span<const double> known, std::span<const double> novel, double threshold) {
  check_no_nan(known, "known");
  check_no_nan(novel, "novel");
  std::vector<double> sorted(known.begin(), known.end());
  std::sort(sorted.begin(), sorted.end());
  double wins = 0;
  std::int64_t above = 0;
  for (const double score : novel) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), score);
    wins += static_cast<double>(first - sorted.begin()) + 0.5 * static_cast<double>(last - first);
    above += score > threshold;
  }
  const double n_known = static_cast<double>(known.size()), n_novel = static_cast<double>(novel.size());
  const auto alarms = std::count_if(known.begin(), known.end(), [&](double score) { return score > threshold; });
  return {.auroc = wins / (n_known * n_novel),
          .detected = static_cast<double>(above) / n_novel,
          .false_alarms = static_cast<double>(alarms) / n_known,
          .known = static_cast<std::int64_t>(known.size()),
          .novel = static_cast<std::int64_t>(novel.size())};
}

}  // namespace attune::evaluate
