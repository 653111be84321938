// Transformer-XL (Dai et al. 2019): a sequence is read segment by segment; a segment sees its own tokens before each of
// its own and the states of the `memory` tokens before the segment, through which no gradient flows (section 3.2). Its
// positions are relative (section 3.3): score = scale ((q + u) k + (q + v) W r_distance).
//
// All segments are computed at once: what a layer remembers of earlier segments is its own input there, so that the
// keys of a segment are [projections of the detached input; its own], gathered for one call of attention().
#include <algorithm>

#include "attune/autograd/tape.h"
#include "attune/nn/attention/family.h"
#include "attune/nn/position/sinusoidal.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

struct SegmentSizes {
  std::int64_t segment = 128, memory = 128;
};

/// Every segment of a batch as a sequence of its own.
struct Segments {
  AttentionSequences sequences;
  std::vector<std::int64_t> keys;  // rows of [own keys of all tokens; remembered keys of all tokens]
  std::int64_t longest = 0;        // keys of a segment

  Segments(const Batch& batch, const SegmentSizes& sizes) {
    const std::int64_t tokens = batch.tokens();
    std::vector<std::int64_t> query_counts, key_counts;
    for (std::int64_t s = 0; s < batch.offsets.count(); ++s)
      for (std::int64_t begin = 0; begin < batch.offsets.length(s); begin += sizes.segment) {
        const std::int64_t end = std::min(begin + sizes.segment, batch.offsets.length(s));
        const std::int64_t first = std::max<std::int64_t>(0, begin - sizes.memory), row = batch.offsets.begin(s);
        for (std::int64_t t = first; t < begin; ++t) keys.push_back(tokens + row + t);
        for (std::int64_t t = begin; t < end; ++t) keys.push_back(row + t);
        query_counts.push_back(end - begin);
        key_counts.push_back(end - first);
        longest = std::max(longest, end - first);
        // Dropout is keyed by places within a segment: each needs a number of its own.
        const auto number = static_cast<std::uint64_t>(begin / sizes.segment);
        const auto example = static_cast<std::uint64_t>(batch.examples[static_cast<std::size_t>(s)]);
        sequences.examples.push_back(static_cast<std::int64_t>(example ^ (number * 0x9E3779B97F4A7C15)));
      }
    sequences.queries = Offsets::from_lengths(query_counts);
    sequences.keys = Offsets::from_lengths(key_counts);
  }
};

class TransformerXl : public AttentionFamily {
 public:
  TransformerXl(const Weights& w, const FamilyUse& use, const SegmentSizes& sizes)
      : sizes_(sizes),
        distances_(sinusoidal_table(sizes.segment + sizes.memory, use.hidden_size, SinusoidalLayout::halves)),
        position_(w / "position", use.hidden_size, use.sizes.query_width(), {.bias = false}),
        content_bias_(w.parameter("content_bias", {use.sizes.query_width()}, Initial::normal(0.02))),
        position_bias_(w.parameter("position_bias", {use.sizes.query_width()}, Initial::normal(0.02))) {}

  Tensor mix(const Input& in) const override {
    const Segments segments(in.batch, sizes_);
    const Tensor rows = Tensor::from<std::int64_t>({static_cast<std::int64_t>(segments.keys.size())}, segments.keys);
    const KeysAndValues past =
        needs_gradient({in.k, in.v}) ? in.heads->keys_and_values(in.x.detached(), in.batch) : KeysAndValues{in.k, in.v};
    const Tensor k = select_rows(concatenate_rows({in.k, past.k}), rows);
    const Tensor v = select_rows(concatenate_rows({in.v, past.v}), rows);
    AttentionRule rule = in.rule;
    rule.scores = rule.scores + distance_scores(biased(in.q, position_bias_), segments.longest);
    return attention(biased(in.q, content_bias_), k, v, segments.sequences, rule);
  }

 private:
  static Tensor biased(const Tensor& q, const Tensor& bias) {
    return reshape(add_row(reshape(q, {q.dim(0), q.dim(1) * q.dim(2)}), bias), q.shape());
  }

  /// scale (q + v) W r_distance for the distances 0 (the token itself), 1, ..., count - 1 back.
  ScoreChanges distance_scores(const Tensor& q, std::int64_t count) const {
    const Tensor r = position_(distances_.rows(0, count).to(q.dtype()));  // [count, heads head_dim]
    const Tensor table = reshape(r, {count, q.dim(1), q.dim(2)});
    // What comes later is masked: any row of the table will do.
    const ScoreChanges of_keys = relative_keys(
        table, [count](std::int64_t distance) { return std::clamp<std::int64_t>(-distance, 0, count - 1); });
    return {.additions = {[q, add = of_keys.additions.front()](ScoreSetting setting) {
              setting.q = q;  // the products with positions have a bias of their own
              return add(setting);
            }}};
  }

  SegmentSizes sizes_;
  Tensor distances_;  // [segment + memory, hidden]
  Linear position_;
  Tensor content_bias_, position_bias_;  // u, v: [heads * head_dim]
};

const RegisterFamily transformer_xl({
    .name = "transformer_xl",
    .paper = "Dai et al. 2019, Transformer-XL",
    .in_encoder = false,
    .own_positions = true,
    .writes_text = false,
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights& w) -> FamilyParts {
      SegmentSizes sizes;
      sizes.segment = config.integer_or("segment", 128, {.at_least = 1, .at_most = 1 << 20});
      sizes.memory = config.integer_or("memory", sizes.segment, {.at_least = 0, .at_most = 1 << 20});
      return {.rule = {.mask = causal()}, .mixer = std::make_shared<TransformerXl>(w, use, sizes)};
    },
});

}  // namespace

}  // namespace attune
