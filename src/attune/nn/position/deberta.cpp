#include "attune/nn/position/deberta.h"

#include <fmt/format.h>

#include <cmath>

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/nn/embedding.h"
#include "attune/nn/norm/norm.h"
#include "attune/nn/position/positions.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// The table projected by a block: [2 span, heads, head_dim].
Tensor projected(const DisentangledPositions& p, const Linear& by) {
  const Tensor rows = by(p.table());
  check(rows.dim(1) % p.heads == 0, "relative positions: {} values do not divide into {} heads", rows.dim(1), p.heads);
  return reshape(rows, {rows.dim(0), p.heads, rows.dim(1) / p.heads});
}

struct Kinds {
  bool content_to_position = false, position_to_content = false;

  static Kinds read(const ConfigReader& config) {
    Kinds kinds;
    for (const std::string& kind : config.strings_or("kinds", {"c2p", "p2c"})) {
      if (kind != "c2p" && kind != "p2c") config.reject("kinds", "expected \"c2p\", \"p2c\" or both");
      bool& named = kind == "c2p" ? kinds.content_to_position : kinds.position_to_content;
      if (named) config.reject("kinds", "it names \"" + kind + "\" twice: expected \"c2p\", \"p2c\" or both");
      named = true;
    }
    if (!kinds.content_to_position && !kinds.position_to_content) config.reject("kinds", "expected at least one");
    return kinds;
  }
  int count() const { return (content_to_position ? 1 : 0) + (position_to_content ? 1 : 0); }
};

PositionParts build(const ConfigReader& config, const PositionUse& use, const Weights& w) {
  const Kinds kinds = Kinds::read(config);
  if (kinds.position_to_content && use.sizes.kv_heads != use.sizes.heads)
    config.reject("kinds",
                  "position to content (\"p2c\") needs as many key heads as query heads: give "
                  "num_key_value_heads = num_attention_heads, or kinds = [\"c2p\"]");
  if (kinds.position_to_content && use.causal)
    log_warning(
        fmt::format("{}: DeBERTa's positions with position to content (\"p2c\") cannot be decoded from a cache: "
                    "a decoder with them is trained, and does not generate: give positions.kinds = [\"c2p\"]",
                    config.source()));
  DisentangledPositions shared{.table = {}, .key = {}, .query = {}, .heads = use.sizes.heads, .buckets = {}};
  shared.buckets.span = config.integer_or("buckets", 256, {.at_least = 2, .at_most = 1 << 20});
  shared.buckets.buckets = shared.buckets.span;
  shared.buckets.longest = config.integer_or("max_distance", 512, {.at_least = 2, .at_most = 1 << 30});
  const std::int64_t exact = shared.buckets.span / 2;
  if (shared.buckets.longest - 1 <= exact)
    config.reject("max_distance", fmt::format("{} buckets (\"buckets\") give the distances up to {} one each: expected "
                                              "at least {}, or fewer buckets",
                                              shared.buckets.span, exact, exact + 2));
  const Embedding table(w / "rel_embeddings", 2 * shared.buckets.span, use.hidden_size, {}, use.deviation);
  shared.table = [table] { return table.table(); };
  if (config.choice_or("norm", "none", {"none", "layer_norm"}) == "layer_norm") {
    const Norm norm = Norm::layer(w / "LayerNorm", use.hidden_size, 1e-7);
    shared.table = [table, norm] { return norm(table.table()); };
  }
  return {.scores =
              [shared, kinds, use](const Weights& block) {
                DisentangledPositions own = shared;
                const LinearOptions options{.deviation = use.deviation};
                if (kinds.content_to_position)
                  own.key = Linear(block / "pos_key_proj", use.hidden_size, use.sizes.query_width(), options);
                if (kinds.position_to_content)
                  own.query = Linear(block / "pos_query_proj", use.hidden_size, use.sizes.query_width(), options);
                return disentangled_scores(own);
              },
          .scale = deberta_scale(use.sizes.head_dim, kinds.count())};
}

const RegisterPositions registered({
    .name = "deberta",
    .paper = "He et al. 2021, DeBERTa: decoding-enhanced BERT with disentangled attention",
    .build = build,
});

}  // namespace

ScoreChanges disentangled_scores(const DisentangledPositions& p) {
  check(p.table && p.heads > 0 && p.parts() > 0, "relative positions: no table, no heads or no projection");
  const BucketOf bucket_of = [sizes = p.buckets](std::int64_t d) { return deberta_bucket(d, sizes); };
  ScoreChanges changes;
  if (p.key)
    changes.additions.push_back([p, bucket_of](const ScoreSetting& s) {
      return relative_keys(projected(p, *p.key), bucket_of).additions.front()(s);
    });
  if (p.query)
    changes.additions.push_back([p, bucket_of](const ScoreSetting& s) {
      check(s.k.defined(),
            "DeBERTa's positions: position to content (p2c) asks every key, and a cache does not hold what it needs: a "
            "model with it is not decoded. Train one with positions.kinds = [\"c2p\"]");
      return relative_queries(projected(p, *p.query), bucket_of).additions.front()(s);
    });
  return changes;
}

double deberta_scale(std::int64_t head_dim, int parts) {
  return 1 / std::sqrt(static_cast<double>(head_dim) * (1 + parts));
}

}  // namespace attune
