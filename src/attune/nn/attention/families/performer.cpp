#include "attune/nn/attention/families/performer.h"

#include <cmath>
#include <mutex>

#include "attune/base/error.h"
#include "attune/nn/attention/families/recurrent_mixer.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/exponential_features.h"
#include "attune/ops/linear.h"
#include "attune/ops/softmax.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// f(q) and f(k), [tokens, heads, features].
struct Features {
  Tensor q, k;
};

Features features_of(const Tensor& q, const Tensor& k, const LinearWeight& projection, double score_scale) {
  const double root = std::sqrt(score_scale);
  const Tensor queries = scale(contiguous(q), root), keys = scale(contiguous(k), root);
  return {softmax(linear(queries, projection)), exponential_features(linear(keys, projection), keys)};
}

/// The rows of a square matrix of normal numbers, made orthogonal by Gram and Schmidt's method and of length 1: their
/// directions are uniform.
std::vector<std::vector<double>> directions(std::int64_t width, RandomStream& random) {
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(width));
  for (auto& row : rows) {
    row.resize(static_cast<std::size_t>(width));
    for (double& x : row) x = random.normal();
    // Twice, since one pass leaves what cancellation lost.
    for (int pass = 0; pass < 2; ++pass)
      for (const auto& before : rows) {
        if (&before == &row) break;
        double dot = 0;
        for (std::size_t c = 0; c < row.size(); ++c) dot += row[c] * before[c];
        for (std::size_t c = 0; c < row.size(); ++c) row[c] -= dot * before[c];
      }
    double square = 0;
    for (double x : row) square += x * x;
    for (double& x : row) x /= std::sqrt(square);
  }
  return rows;
}

struct PerformerSettings {
  ProjectionShape projection;
  RandomKey key = {};
  std::int64_t redraw = 0;  // training steps from one drawing to the next; 0: one for all
  bool causal = true;
};

class Performer : public RecurrentFamily {
 public:
  explicit Performer(const PerformerSettings& settings) : settings_(settings) {}

  Tensor mix(const Input& in) const override {
    const bool redrawn = settings_.redraw > 0 && in.batch.dropout;
    const std::uint64_t draw = redrawn ? in.batch.dropout->step / static_cast<std::uint64_t>(settings_.redraw) : 0;
    const Features f = features_of(in.q, in.k, drawn(draw, in.q.dtype()), scale_of(in));
    return recur("performer", in, {f.q, f.k, in.v}, {.causal = settings_.causal, .normalised = true});
  }

 private:
  LinearWeight drawn(std::uint64_t draw, DType type) const {
    const std::lock_guard lock(mutex_);
    if (!last_ || last_draw_ != draw || last_->tensor().dtype() != type) {
      last_ = LinearWeight(performer_projection(settings_.projection, settings_.key.at(draw)).to(type));
      last_draw_ = draw;
    }
    return *last_;
  }

  PerformerSettings settings_;
  mutable std::mutex mutex_;
  mutable std::optional<LinearWeight> last_;
  mutable std::uint64_t last_draw_ = 0;
};

const RegisterFamily performer({
    .name = "performer",
    .paper = "Choromanski et al. 2021, Rethinking attention with Performers",
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights&) -> FamilyParts {
      const std::int64_t width = use.sizes.head_dim;
      PerformerSettings settings = {
          .projection = {.features = config.integer_or("features", 2 * width, {.at_least = 1, .at_most = 65536}),
                         .width = width,
                         .orthogonal = config.flag_or("orthogonal", true)},
          .redraw = config.integer_or("redraw", 0, {.at_least = 0}),
          .causal = use.causal};
      const auto seed = static_cast<std::uint64_t>(config.integer_or("seed", 1, {.at_least = 0}));
      settings.key = RandomKey{seed, 0, 0}.at("performer").at(static_cast<std::uint64_t>(use.layer));
      return {.rule = {.mask = use.causal ? causal() : bidirectional()},
              .mixer = std::make_shared<Performer>(settings)};
    },
});

}  // namespace

Tensor performer_projection(const ProjectionShape& shape, const RandomKey& key) {
  RandomStream random(key);
  Tensor projection = Tensor::empty({shape.features, shape.width}, DType::F64);
  double* to = projection.mutable_data<double>();
  std::vector<std::vector<double>> group;
  for (std::int64_t m = 0; m < shape.features; ++m) {
    double* row = to + m * shape.width;
    for (std::int64_t c = 0; c < shape.width; ++c) row[c] = random.normal();
    if (!shape.orthogonal) continue;
    double square = 0;
    for (std::int64_t c = 0; c < shape.width; ++c) square += row[c] * row[c];
    if (m % shape.width == 0) group = directions(shape.width, random);
    for (std::int64_t c = 0; c < shape.width; ++c)
      row[c] = std::sqrt(square) * group[static_cast<std::size_t>(m % shape.width)][static_cast<std::size_t>(c)];
  }
  return projection;
}

Tensor performer_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& tokens,
                           const PerformerRule& rule) {
  check(rule.scale > 0, "performer: the scale is {}: expected above 0", rule.scale);
  const Features f = features_of(q, k, LinearWeight(rule.projection), rule.scale);
  return linear_recurrence(f.q, f.k, v, tokens, {.causal = rule.causal, .normalised = true});
}

}  // namespace attune
