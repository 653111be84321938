// Llama: Touvron et al. 2023, "LLaMA: open and efficient foundation language models". Pre-norm with RMSNorm, rotary
// positions, SwiGLU, grouped keys and values. Weight names as published on Hugging Face (LlamaModel, LlamaForCausalLM).
#include "attune/base/error.h"
#include "attune/models/architecture.h"
#include "attune/models/config_values.h"
#include "attune/nn/embedding.h"
#include "attune/nn/position/rotary.h"

namespace attune {

namespace {

struct LlamaConfig {
  std::int64_t vocab_size, hidden_size, intermediate_size, layers;
  AttentionSizes attention;
  Activation activation;
  RopeConfig rope;
  double epsilon, deviation, attention_dropout;
  bool tied, attention_bias, mlp_bias;
  std::optional<std::int64_t> pad_token_id;
  std::vector<std::int64_t> eos_token_ids;

  static LlamaConfig read(const ConfigReader& c) {
    LlamaConfig l;
    l.vocab_size = c.integer_or("vocab_size", 32000, {.at_least = 1});
    l.hidden_size = c.integer_or("hidden_size", 4096, {.at_least = 1});
    l.intermediate_size = c.integer_or("intermediate_size", 11008, {.at_least = 1});
    l.layers = c.integer_or("num_hidden_layers", 32, {.at_least = 1});
    l.attention.heads = c.integer_or("num_attention_heads", 32, {.at_least = 1});
    l.attention.kv_heads = c.integer_or("num_key_value_heads", l.attention.heads, {.at_least = 1});
    if (l.attention.heads % l.attention.kv_heads != 0)
      c.reject("num_key_value_heads", "must divide num_attention_heads");
    if (!c.has("head_dim") && l.hidden_size % l.attention.heads != 0)
      c.reject("num_attention_heads", "must divide hidden_size");
    l.attention.head_dim = c.integer_or("head_dim", l.hidden_size / l.attention.heads, {.at_least = 1});
    l.activation = read_activation(c, "hidden_act", "silu");
    l.rope = read_rope(c, l.attention.head_dim);
    l.epsilon = c.number_or("rms_norm_eps", 1e-6, {.at_least = 0, .at_most = 1});
    l.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    l.attention_dropout = c.number_or("attention_dropout", 0, {0, 1});
    l.tied = c.flag_or("tie_word_embeddings", false);
    l.attention_bias = c.flag_or("attention_bias", false);
    l.mlp_bias = c.flag_or("mlp_bias", false);
    if (c.has("pad_token_id")) l.pad_token_id = c.integer("pad_token_id");
    l.eos_token_ids = read_token_ids(c, "eos_token_id", {2});
    c.ignore({"bos_token_id", "max_position_embeddings", "pretraining_tp"});
    return l;
  }
};

Block llama_block(const Weights& w, const LlamaConfig& c, int layer) {
  LinearOptions projection{.bias = c.attention_bias, .deviation = c.deviation};
  LinearOptions dense{.bias = c.mlp_bias, .deviation = c.deviation};
  Weights attention = w / "self_attn", mlp = w / "mlp";
  return {.attention = {.query = Linear(attention / "q_proj", c.hidden_size, c.attention.query_width(), projection),
                        .key = Linear(attention / "k_proj", c.hidden_size, c.attention.kv_width(), projection),
                        .value = Linear(attention / "v_proj", c.hidden_size, c.attention.kv_width(), projection),
                        .output = Linear(attention / "o_proj", c.attention.query_width(), c.hidden_size, projection),
                        .sizes = c.attention,
                        .rule = {.mask = causal()},
                        .dropout = c.attention_dropout},
          .attention_norm = Norm::rms(w / "input_layernorm", c.hidden_size, c.epsilon),
          .feedforward = {.up = Linear(mlp / "up_proj", c.hidden_size, c.intermediate_size, dense),
                          .down = Linear(mlp / "down_proj", c.intermediate_size, c.hidden_size, dense),
                          .gate = Linear(mlp / "gate_proj", c.hidden_size, c.intermediate_size, dense),
                          .activation = c.activation},
          .feedforward_norm = Norm::rms(w / "post_attention_layernorm", c.hidden_size, c.epsilon),
          .order = NormOrder::pre,
          .place = {Stack::decoder, layer}};
}

class Llama : public Model {
 public:
  Llama(const LlamaConfig& c, HeadKind head, WeightSource source)
      : Model(std::move(source), {.spellings = {{NameRules::Spelling::Place::prefix, "model.", ""}},
                                  .unused = {"rotary_emb.inv_freq", "lm_head.weight"},
                                  .may_be_new = {"lm_head."}}),
        rope_(c.rope) {
    Weights root(parameters_), w = root / "model";
    embed_ = Embedding(w / "embed_tokens", c.vocab_size, c.hidden_size, c.pad_token_id, c.deviation);
    for (int i = 0; i < c.layers; ++i) layers_.push_back(llama_block(w / "layers" / i, c, i));
    norm_ = Norm::rms(w / "norm", c.hidden_size, c.epsilon);
    if (head == HeadKind::causal_lm)
      head_ = std::make_unique<CausalLmHead>(
          c.tied ? CausalLmHead(embed_, root / "lm_head")
                 : CausalLmHead(root / "lm_head", c.hidden_size, c.vocab_size, c.deviation));
    facts_ = {.model_type = "llama",
              .head = head,
              .vocab_size = c.vocab_size,
              .hidden_size = c.hidden_size,
              .layers = c.layers,
              .pad_token_id = c.pad_token_id,
              .eos_token_ids = c.eos_token_ids,
              .cached_attention = c.attention,
              .shares_keys = !c.rope.scaling.depends_on_length()};
  }
  const ModelFacts& facts() const override { return facts_; }

  Tensor forward(const Batch& batch, Observer* observer) const override {
    Tensor x = embed_(batch.ids);  // [tokens, hidden]
    Batch turned = batch;
    turned.rotary = to_type(rotary_table(rope_, batch), x.dtype());
    if (observer) observer->hidden_state(Stack::decoder, 0, x);
    x = norm_(run(layers_, x, turned, observer, nullptr, true));
    if (observer) observer->hidden_state(Stack::decoder, static_cast<int>(layers_.size()), x);
    return x;
  }
  const std::vector<Block>& decoding_blocks() const override { return layers_; }

 private:
  ModelFacts facts_;
  RopeConfig rope_;
  Embedding embed_;
  std::vector<Block> layers_;
  Norm norm_;
};

const RegisterArchitecture llama({
    .model_type = "llama",
    .classes = {{"LlamaModel", HeadKind::none}, {"LlamaForCausalLM", HeadKind::causal_lm}},
    .dropout_keys = {"attention_dropout"},
    .build = [](const ConfigReader& config, HeadKind head, WeightSource source) -> std::unique_ptr<Model> {
      return std::make_unique<Llama>(LlamaConfig::read(config), head, std::move(source));
    },
});

}  // namespace

}  // namespace attune
