#include "attune/nn/attention/families/linformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"
#include "attune/nn/attention/family.h"
#include "attune/ops/batched_matmul.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// [tokens, heads, head_dim] to [sequences * rank, heads, head_dim].
Tensor projected(const Tensor& projection, const Tensor& x, const Offsets& tokens) {
  const Tensor rows = reshape(contiguous(x), {x.dim(0), x.dim(1) * x.dim(2)});
  std::vector<Tensor> parts;
  for (std::int64_t s = 0; s < tokens.count(); ++s)
    parts.push_back(
        batched_matmul(columns(projection, 0, tokens.length(s)), row_range(rows, tokens.begin(s), tokens.end(s))));
  return reshape(concatenate_rows(parts), {tokens.count() * projection.dim(0), x.dim(1), x.dim(2)});
}

class Linformer : public AttentionFamily {
 public:
  Linformer(Tensor keys, Tensor values) : keys_(std::move(keys)), values_(std::move(values)) {}

  Tensor mix(const Input& in) const override {
    check(in.rule.dropout.rate == 0, "linformer: its weights are of projected rows, not of tokens: it drops none");
    return linformer_attention(in.q, in.k, in.v, in.batch.offsets, {keys_, values_, in.rule.scale});
  }

 private:
  Tensor keys_, values_;  // [rank, longest]
};

// Encoders alone: a projected row mixes all tokens, later ones too.
const RegisterFamily linformer({
    .name = "linformer",
    .paper = "Wang et al. 2020, Linformer",
    .in_decoder = false,
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights& w) -> FamilyParts {
      if (use.longest == 0)
        config.reject("family", "it projects sequences of a known length: give max_position_embeddings");
      if (use.longest > 1 << 20)
        config.reject("family",
                      fmt::format("its projections are for each place of a longest sequence: give the model's "
                                  "max_position_embeddings, now {}, as at most {}",
                                  use.longest, 1 << 20));
      const std::int64_t rank =
          config.integer_or("rank", std::min<std::int64_t>(128, use.longest), {.at_least = 1, .at_most = 1 << 20});
      if (rank > use.longest)
        config.reject("rank",
                      fmt::format("a sequence has no more than {} tokens (the model's max_position_embeddings): "
                                  "expected at most as many mixtures of them",
                                  use.longest));
      // Key and value sharing (section 4): one projection for both.
      const bool shared = config.flag_or("share_projection", false);
      // A projected row of a longest sequence begins about as large as a token's.
      const Initial begin = Initial::normal(1 / std::sqrt(static_cast<double>(use.longest)));
      const Tensor keys = w.parameter("key_projection.weight", {rank, use.longest}, begin);
      const Tensor values = shared ? keys : w.parameter("value_projection.weight", {rank, use.longest}, begin);
      return {.rule = {.mask = bidirectional()}, .mixer = std::make_shared<Linformer>(keys, values)};
    },
});

}  // namespace

Tensor linformer_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& tokens,
                           const LinformerRule& rule) {
  const std::int64_t rank = rule.keys.dim(0), longest = rule.keys.dim(1);
  check(tokens.longest() <= longest, "linformer: a sequence of {} tokens; its projections are for {}", tokens.longest(),
        longest);
  if (tokens.count() == 0) return q;
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(tokens.count()), rank);
  return attention(q, projected(rule.keys, k, tokens), projected(rule.values, v, tokens),
                   {tokens, Offsets::from_lengths(lengths)}, {.mask = bidirectional(), .scale = rule.scale});
}

}  // namespace attune
