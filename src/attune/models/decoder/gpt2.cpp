// GPT-2: Radford et al. 2019, "Language models are unsupervised multitask learners". Pre-norm, learned positions, one
// matrix of queries, keys and values. Weight names as published on Hugging Face (GPT2Model, GPT2LMHeadModel).
#include <cmath>

#include "attune/models/architecture.h"
#include "attune/models/config_values.h"
#include "attune/nn/embedding.h"
#include "attune/nn/position/learned.h"
#include "attune/ops/arithmetic.h"

namespace attune {

namespace {

struct Gpt2Config {
  std::int64_t vocab_size, positions, hidden_size, layers, heads, inner_size;
  Activation activation;
  double residual_dropout, embedding_dropout, attention_dropout, epsilon, deviation;
  bool scaled, scaled_by_layer, tied;
  std::optional<std::int64_t> pad_token_id;
  std::vector<std::int64_t> eos_token_ids;

  static Gpt2Config read(const ConfigReader& c) {
    Gpt2Config g;
    g.vocab_size = c.integer_or("vocab_size", 50257, {.at_least = 1});
    g.positions = c.integer_or("n_positions", 1024, {.at_least = 1});
    g.hidden_size = c.integer_or("n_embd", 768, {.at_least = 1});
    g.layers = c.integer_or("n_layer", 12, {.at_least = 1});
    g.heads = c.integer_or("n_head", 12, {.at_least = 1});
    if (g.hidden_size % g.heads != 0) c.reject("n_head", "must divide n_embd");
    g.inner_size = c.integer_or("n_inner", 4 * g.hidden_size, {.at_least = 1});
    g.activation = read_activation(c, "activation_function", "gelu_new");
    g.residual_dropout = c.number_or("resid_pdrop", 0.1, {0, 1});
    g.embedding_dropout = c.number_or("embd_pdrop", 0.1, {0, 1});
    g.attention_dropout = c.number_or("attn_pdrop", 0.1, {0, 1});
    g.epsilon = c.number_or("layer_norm_epsilon", 1e-5, {.at_least = 0, .at_most = 1});
    g.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    g.scaled = c.flag_or("scale_attn_weights", true);
    g.scaled_by_layer = c.flag_or("scale_attn_by_inverse_layer_idx", false);
    g.tied = c.flag_or("tie_word_embeddings", true);
    c.ignore({"pad_token_id"});  // it may be null
    if (c.has("pad_token_id")) g.pad_token_id = c.integer("pad_token_id");
    g.eos_token_ids = read_token_ids(c, "eos_token_id", {50256});
    if (c.flag_or("reorder_and_upcast_attn", false))
      c.reject("reorder_and_upcast_attn", "attention has one order of operations here");
    if (c.flag_or("add_cross_attention", false)) c.reject("add_cross_attention", "GPT-2 has no encoder here");
    // n_ctx, output_past and _num_labels stand in old published configs; transformers reads none of them any more.
    c.ignore({"bos_token_id", "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels",
              "summary_first_dropout", "n_ctx", "output_past", "_num_labels"});
    return g;
  }

  double attention_scale(int layer) const {
    double scale = scaled ? 1 / std::sqrt(static_cast<double>(hidden_size / heads)) : 1;
    return scaled_by_layer ? scale / (layer + 1) : scale;
  }
};

Block gpt2_block(const Weights& w, const Gpt2Config& c, int layer) {
  LinearOptions dense{.in_by_out = true, .deviation = c.deviation}, residual = dense;
  // What is added to the residual stream begins smaller by the root of the number of additions (section 2.3).
  residual.deviation = c.deviation / std::sqrt(2.0 * static_cast<double>(c.layers));
  Weights attention = w / "attn", mlp = w / "mlp";
  return {.attention = {.output = Linear(attention / "c_proj", c.hidden_size, c.hidden_size, residual),
                        .fused = Linear(attention / "c_attn", c.hidden_size, 3 * c.hidden_size, dense),
                        .sizes = {c.heads, c.heads, c.hidden_size / c.heads},
                        .rule = {.mask = causal(), .scale = c.attention_scale(layer)},
                        .dropout = c.attention_dropout},
          .attention_norm = Norm::layer(w / "ln_1", c.hidden_size, c.epsilon),
          .feedforward = {.up = Linear(mlp / "c_fc", c.hidden_size, c.inner_size, dense),
                          .down = Linear(mlp / "c_proj", c.inner_size, c.hidden_size, residual),
                          .activation = c.activation},
          .feedforward_norm = Norm::layer(w / "ln_2", c.hidden_size, c.epsilon),
          .order = NormOrder::pre,
          .dropout = c.residual_dropout,
          .place = {Stack::decoder, layer}};
}

class Gpt2 : public Model {
 public:
  Gpt2(const Gpt2Config& c, HeadKind head, WeightSource source)
      : Model(std::move(source), {.spellings = {{NameRules::Spelling::Place::prefix, "transformer.", ""}},
                                  .unused = {".attn.bias", ".attn.masked_bias", "lm_head.weight"},
                                  .may_be_new = {"lm_head."}}),
        embedding_dropout_(c.embedding_dropout) {
    Weights root(parameters_), w = root / "transformer";
    words_ = Embedding(w / "wte", c.vocab_size, c.hidden_size, {}, c.deviation);
    positions_ = LearnedPositions(w / "wpe", c.positions, c.hidden_size, c.deviation);
    for (int i = 0; i < c.layers; ++i) layers_.push_back(gpt2_block(w / "h" / i, c, i));
    norm_ = Norm::layer(w / "ln_f", c.hidden_size, c.epsilon);
    if (head == HeadKind::causal_lm)
      head_ = std::make_unique<CausalLmHead>(
          c.tied ? CausalLmHead(words_, root / "lm_head")
                 : CausalLmHead(root / "lm_head", c.hidden_size, c.vocab_size, c.deviation));
    facts_ = {.model_type = "gpt2",
              .head = head,
              .vocab_size = c.vocab_size,
              .hidden_size = c.hidden_size,
              .layers = c.layers,
              .longest = c.positions,
              .pad_token_id = c.pad_token_id,
              .eos_token_ids = c.eos_token_ids,
              .cached_attention = {c.heads, c.heads, c.hidden_size / c.heads},
              .shares_keys = true};
  }
  const ModelFacts& facts() const override { return facts_; }

  Tensor forward(const Batch& batch, Observer* observer) const override {
    Tensor x = add(words_(batch.ids), positions_(batch));  // [tokens, hidden]
    x = batch.dropped(x, embedding_dropout_, batch.site("embeddings"));
    if (observer) observer->hidden_state(Stack::decoder, 0, x);
    x = norm_(run(layers_, x, batch, observer, nullptr, true));
    if (observer) observer->hidden_state(Stack::decoder, static_cast<int>(layers_.size()), x);
    return x;
  }
  const std::vector<Block>& decoding_blocks() const override { return layers_; }

 private:
  ModelFacts facts_;
  double embedding_dropout_;
  Embedding words_;
  LearnedPositions positions_;
  std::vector<Block> layers_;
  Norm norm_;
};

const RegisterArchitecture gpt2({
    .model_type = "gpt2",
    .classes = {{"GPT2Model", HeadKind::none}, {"GPT2LMHeadModel", HeadKind::causal_lm}},
    .dropout_keys = {"resid_pdrop", "embd_pdrop", "attn_pdrop"},
    .build = [](const ConfigReader& config, HeadKind head, WeightSource source) -> std::unique_ptr<Model> {
      return std::make_unique<Gpt2>(Gpt2Config::read(config), head, std::move(source));
    },
});

}  // namespace

}  // namespace attune
