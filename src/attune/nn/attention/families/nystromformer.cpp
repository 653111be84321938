#include "attune/nn/attention/families/nystromformer.h"

#include <cmath>

#include "attune/base/error.h"
#include "attune/nn/attention/family.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/batched_matmul.h"
#include "attune/ops/pooling.h"
#include "attune/ops/sequence_convolution.h"
#include "attune/ops/softmax.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

struct Landmarks {
  Offsets segments;  // of tokens: a landmark each
  Offsets each;      // of landmarks: a sequence each; of a short one as many as tokens

  Landmarks(const Offsets& tokens, std::int64_t most) {
    std::vector<std::int64_t> lengths, counts;
    for (std::int64_t s = 0; s < tokens.count(); ++s) {
      const std::int64_t n = tokens.length(s), m = std::min(n, most);
      for (std::int64_t j = 0; j < m; ++j) lengths.push_back((j + 1) * n / m - j * n / m);
      counts.push_back(m);
    }
    segments = Offsets::from_lengths(lengths);
    each = Offsets::from_lengths(counts);
  }

  /// x: [tokens, heads, head_dim]. Returns [landmarks, heads, head_dim].
  Tensor means(const Tensor& x) const {
    const Tensor rows = reshape(contiguous(x), {x.dim(0), x.dim(1) * x.dim(2)});
    return reshape(segment_mean(rows, segments), {each.total(), x.dim(1), x.dim(2)});
  }
};

/// pinv(softmax(factor q~ k~^T)) near, for one sequence's landmarks. All are [m, heads, head_dim].
Tensor corrected(const Tensor& q, const Tensor& k, const Tensor& near, double factor, const NystromRule& rule) {
  auto heads_first = [](const Tensor& x) { return transposed(x, 0, 1); };
  const Tensor scores = batched_matmul(heads_first(q), transposed(heads_first(k), 1, 2));  // [heads, m, m]
  const Tensor inverse = iterative_inverse(softmax(scale(scores, factor)), rule.inverse_steps, rule.guess);
  return contiguous(transposed(batched_matmul(inverse, heads_first(near)), 0, 1));
}

class Nystromformer : public AttentionFamily {
 public:
  Nystromformer(const NystromRule& rule, Tensor filters) : rule_(rule), filters_(std::move(filters)) {}

  Tensor mix(const Input& in) const override {
    check(in.rule.dropout.rate == 0, "nystromformer: it has no weights of single tokens to drop");
    NystromRule rule = rule_;
    rule.scale = in.rule.scale;
    if (filters_.defined()) rule.filters = reshape(filters_, {filters_.dim(0), filters_.dim(2)});
    return nystrom_attention(in.q, in.k, in.v, in.batch.offsets, rule);
  }

 private:
  NystromRule rule_;
  Tensor filters_;  // [heads, 1, width, 1], as Hugging Face keeps them
};

// Encoders alone: a landmark is a mean over tokens, later ones too.
const RegisterFamily nystromformer({
    .name = "nystromformer",
    .paper = "Xiong et al. 2021, Nystromformer",
    .in_decoder = false,
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights& w) -> FamilyParts {
      if (use.sizes.heads != use.sizes.kv_heads)
        config.reject("family", "it needs as many key heads (num_key_value_heads) as heads");
      const NystromRule rule{
          .landmarks = config.integer_or("num_landmarks", 64, {.at_least = 1, .at_most = 4096}),
          .inverse_steps = static_cast<int>(config.integer_or("inverse_steps", 6, {.at_least = 1, .at_most = 100}))};
      const std::int64_t width = config.integer_or("conv_kernel_size", 0, {.at_least = 0, .at_most = 1 << 16});
      if (width > 0 && width % 2 == 0) config.reject("conv_kernel_size", "must be odd, or 0 for no convolution");
      // Filters begin as wide as PyTorch's Conv2d makes them.
      Tensor filters;
      if (width > 0)
        filters = w.parameter("conv.weight", {use.sizes.heads, 1, width, 1},
                              Initial::normal(1 / std::sqrt(3.0 * static_cast<double>(width))));
      return {.rule = {.mask = bidirectional()}, .mixer = std::make_shared<Nystromformer>(rule, filters)};
    },
});

}  // namespace

Tensor nystrom_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& tokens,
                         const NystromRule& rule) {
  const AttentionRule all{.mask = bidirectional(), .scale = rule.scale};
  const double factor = rule.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(2))));
  const Landmarks landmarks(tokens, rule.landmarks);
  const Tensor near_q = landmarks.means(q), near_k = landmarks.means(k);
  const Tensor near = attention(near_q, k, v, {landmarks.each, tokens}, all);  // [landmarks, heads, head_dim]
  // What queries find at the landmarks; those of a short sequence are its tokens, with their values.
  std::vector<Tensor> found;
  for (std::int64_t s = 0; s < tokens.count(); ++s) {
    auto own = [&](const Tensor& x) { return row_range(x, landmarks.each.begin(s), landmarks.each.end(s)); };
    found.push_back(tokens.length(s) <= rule.landmarks ? row_range(v, tokens.begin(s), tokens.end(s))
                                                       : corrected(own(near_q), own(near_k), own(near), factor, rule));
  }
  if (found.empty()) return q;
  const Tensor mixed = attention(q, near_k, concatenate_rows(found), {tokens, landmarks.each}, all);
  return rule.filters.defined() ? add(mixed, sequence_convolution(v, rule.filters, tokens)) : mixed;
}

}  // namespace attune
