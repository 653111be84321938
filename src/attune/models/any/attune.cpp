// Models that begin from scratch: one stack with any attention (nn/attention/family.h) and any positions, as a decoder
// (AttuneForCausalLM) or an encoder (AttuneForMaskedLM): the head decides. Pre-norm (Xiong et al. 2020); by default
// RMSNorm and SwiGLU, and then full attention with rotary positions is Llama, number for number, under the same names.
#include <algorithm>

#include "attune/base/error.h"
#include "attune/models/architecture.h"
#include "attune/models/config_values.h"
#include "attune/nn/attention/family.h"
#include "attune/nn/attention/recurrent_memory.h"
#include "attune/nn/embedding.h"
#include "attune/nn/named_object.h"
#include "attune/nn/position/positions.h"
#include "attune/ops/arithmetic.h"

namespace attune {

namespace {

struct AttuneConfig {
  std::int64_t vocab_size, hidden_size, intermediate_size, layers, longest;
  AttentionSizes attention;
  Activation activation;
  bool gated, rms, tied;
  double epsilon, deviation, dropout;
  std::optional<std::int64_t> pad_token_id;
  std::vector<std::int64_t> eos_token_ids;
  std::optional<ConfigReader> family, positions;  // "attention" and "positions"

  static AttuneConfig read(const ConfigReader& c) {
    constexpr ConfigRange width{.at_least = 1, .at_most = 1 << 22}, heads{.at_least = 1, .at_most = 65536};
    AttuneConfig a;
    a.family = named_object_or_empty(c, "attention", "family");
    a.vocab_size = c.integer("vocab_size", {.at_least = 1, .at_most = 1 << 28});
    a.hidden_size = c.integer_or("hidden_size", 256, width);
    a.layers = c.integer_or("num_hidden_layers", 6, {.at_least = 1, .at_most = 4096});
    a.attention.heads = c.integer_or("num_attention_heads", 4, heads);
    a.attention.kv_heads = c.integer_or("num_key_value_heads", a.attention.heads, heads);
    if (a.attention.heads % a.attention.kv_heads != 0)
      c.reject("num_key_value_heads", "must divide num_attention_heads");
    if (!c.has("head_dim") && a.hidden_size % a.attention.heads != 0)
      c.reject("num_attention_heads", "must divide hidden_size");
    a.attention.head_dim =
        c.integer_or("head_dim", a.hidden_size / a.attention.heads, {.at_least = 1, .at_most = 65536});
    a.gated = c.choice_or("mlp", "gated", {"gated", "plain"}) == "gated";
    a.intermediate_size = c.integer_or("intermediate_size", a.hidden_size * (a.gated ? 8 : 12) / 3, width);
    a.activation = read_activation(c, "hidden_act", a.gated ? "silu" : "gelu");
    a.rms = c.choice_or("norm", "rms", {"rms", "layer"}) == "rms";
    a.epsilon = c.number_or("norm_eps", 1e-6, {.at_least = 0, .at_most = 1});
    a.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    a.dropout = c.number_or("dropout", 0, {0, 1});
    a.longest = c.integer_or("max_position_embeddings", 0, {.at_least = 1, .at_most = 1 << 30});
    a.tied = c.flag_or("tie_word_embeddings", true);
    a.positions = named_object_or_empty(c, "positions", "method");
    if (c.has("pad_token_id")) a.pad_token_id = c.integer("pad_token_id", {.at_least = 0});
    a.eos_token_ids = read_token_ids(c, "eos_token_id", {});
    c.ignore({"bos_token_id"});
    return a;
  }

  /// A family with positions of its own has no other.
  PositionUse position_use(bool causal) const {
    const FamilyEntry& entry = named_family(*family, causal);
    if (entry.own_positions && positions->string_or("method", "none") != "none")
      positions->reject("method", entry.name + " attention has relative positions of its own, which come in place of " +
                                      "any other: leave `positions` out, or take none");
    return {.causal = causal,
            .sizes = attention,
            .hidden_size = hidden_size,
            .longest = longest,
            .deviation = deviation,
            .otherwise = entry.own_positions ? "none" : "rotary"};
  }
  Norm norm(const Weights& w) const {
    return rms ? Norm::rms(w, hidden_size, epsilon) : Norm::layer(w, hidden_size, epsilon);
  }
};

Block attune_block(const Weights& w, const AttuneConfig& c, const Place& place, FamilyParts parts) {
  const LinearOptions dense{.bias = false, .deviation = c.deviation};
  const Weights attention = w / "self_attn", mlp = w / "mlp";
  const std::int64_t inner = c.intermediate_size;
  return {.attention = {.query = Linear(attention / "q_proj", c.hidden_size, c.attention.query_width(), dense),
                        .key = Linear(attention / "k_proj", c.hidden_size, c.attention.kv_width(), dense),
                        .value = Linear(attention / "v_proj", c.hidden_size, c.attention.kv_width(), dense),
                        .output = Linear(attention / "o_proj", c.attention.query_width(), c.hidden_size, dense),
                        .sizes = c.attention,
                        .rule = std::move(parts.rule),
                        .family = std::move(parts.mixer)},
          .attention_norm = c.norm(w / "input_layernorm"),
          .feedforward = {.up = Linear(mlp / "up_proj", c.hidden_size, inner, dense),
                          .down = Linear(mlp / "down_proj", inner, c.hidden_size, dense),
                          .gate = c.gated ? std::optional(Linear(mlp / "gate_proj", c.hidden_size, inner, dense))
                                          : std::nullopt,
                          .activation = c.activation},
          .feedforward_norm = c.norm(w / "post_attention_layernorm"),
          .order = NormOrder::pre,
          .dropout = c.dropout,
          .place = place};
}

/// The same output layer, asked for the masked token itself.
class MaskedLmHead : public CausalLmHead {
 public:
  using CausalLmHead::CausalLmHead;
  bool shifts_labels() const override { return false; }
};

template <class LmHead>
std::unique_ptr<Head> lm_head(const Weights& w, const AttuneConfig& c, const Embedding& words) {
  if (c.tied) return std::make_unique<LmHead>(words, w);
  return std::make_unique<LmHead>(w, c.hidden_size, c.vocab_size, CausalLmOptions{.deviation = c.deviation});
}

class Attune : public Model {
 public:
  Attune(const AttuneConfig& c, HeadKind head, WeightSource source)
      : Model(std::move(source), {.may_be_new = {"lm_head."}}), config_(c) {
    const bool causal = head == HeadKind::causal_lm;
    const Weights root(parameters_), w = root / "model";
    embed_ = Embedding(w / "embed_tokens", c.vocab_size, c.hidden_size, c.pad_token_id, c.deviation);
    positions_ = build_positions(*c.positions, c.position_use(causal), w / "positions");
    for (int i = 0; i < c.layers; ++i) {
      const Weights layer = w / "layers" / i;
      FamilyParts parts = build_family(*c.family,
                                       {.causal = causal,
                                        .sizes = c.attention,
                                        .hidden_size = c.hidden_size,
                                        .longest = c.longest,
                                        .layer = i,
                                        .layers = c.layers},
                                       layer / "self_attn");
      if (parts.recurrence) recurrence_ = parts.recurrence;
      place_scores(parts, layer / "self_attn");
      layers_.push_back(attune_block(layer, c, {causal ? Stack::decoder : Stack::encoder, i}, std::move(parts)));
    }
    norm_ = c.norm(w / "norm");
    head_ = causal ? lm_head<CausalLmHead>(root / "lm_head", c, embed_)
                   : lm_head<MaskedLmHead>(root / "lm_head", c, embed_);
    facts_ = {.model_type = "attune",
              .head = head,
              .vocab_size = c.vocab_size,
              .hidden_size = c.hidden_size,
              .layers = c.layers,
              .pad_token_id = c.pad_token_id,
              .eos_token_ids = c.eos_token_ids,
              .cached_attention = c.attention,
              .shares_keys = !positions_.by_planned_length};
    const std::int64_t placed = positions_.longest, longest = c.longest > 0 && placed > 0 ? std::min(c.longest, placed)
                                                                                          : std::max(c.longest, placed);
    if (longest > 0) facts_.longest = longest;
  }
  const ModelFacts& facts() const override { return facts_; }

  Tensor forward(const Batch& batch, Observer* observer) const override {
    Tensor x = embed_(batch.ids);  // [tokens, hidden]
    if (!recurrence_) x = placed(x, batch);
    x = batch.dropped(x, config_.dropout, batch.site("embeddings"));
    const Stack stack = layers_.front().place.stack;
    if (observer) observer->hidden_state(stack, 0, x);
    // Memory tokens join the rows of each segment: what they are within the stack, an observer of tokens is not shown.
    // Positions count from 0 in each segment.
    auto segment = [&](const Tensor& in, const Batch& b) { return states(placed(in, b), b, nullptr); };
    x = recurrence_ ? (*recurrence_)(x, batch, segment) : states(x, batch, observer);
    if (observer) observer->hidden_state(stack, static_cast<int>(layers_.size()), x);
    return x;
  }
  const std::vector<Block>& decoding_blocks() const override {
    const bool decodes = facts_.head == HeadKind::causal_lm && !recurrence_;  // segments are read whole
    return decodes ? layers_ : Model::decoding_blocks();
  }

 private:
  Tensor placed(const Tensor& x, const Batch& batch) const {
    return positions_.added ? add(x, positions_.added(batch)) : x;
  }
  /// All blocks and the final norm, over tokens at the batch's positions.
  Tensor states(const Tensor& x, const Batch& batch, Observer* observer) const {
    Batch turned = batch;
    if (positions_.rotary) turned.rotary = {positions_.rotary(batch)};
    return norm_(run(layers_, x, turned, observer, nullptr, true));
  }

  /// What the positions change of one block's scores.
  void place_scores(FamilyParts& parts, const Weights& block) const {
    if (!positions_.scores) return;
    if (parts.mixer && !parts.mixer_takes_scores)
      config_.positions->reject("method",
                                "this attention family has no scores that positions could change: take "
                                "rotary, sinusoidal, learned or none");
    parts.rule.scores = parts.rule.scores + positions_.scores(block);
    if (positions_.scale) parts.rule.scale = positions_.scale;
  }

  AttuneConfig config_;
  PositionParts positions_;
  ModelFacts facts_;
  Embedding embed_;
  std::vector<Block> layers_;
  std::shared_ptr<const RecurrentMemory> recurrence_;
  Norm norm_;
};

const RegisterArchitecture attune_({
    .model_type = "attune",
    .classes = {{"AttuneForCausalLM", HeadKind::causal_lm}, {"AttuneForMaskedLM", HeadKind::masked_lm}},
    .dropout_keys = {"dropout"},
    .build = [](const ConfigReader& config, HeadKind head, WeightSource source) -> std::unique_ptr<Model> {
      if (head != HeadKind::causal_lm && head != HeadKind::masked_lm)
        config.reject("architectures", "name AttuneForCausalLM or AttuneForMaskedLM: the head says whether it decodes");
      return std::make_unique<Attune>(AttuneConfig::read(config), head, std::move(source));
    },
});

}  // namespace

}  // namespace attune
