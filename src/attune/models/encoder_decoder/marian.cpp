// The original Transformer: Vaswani et al. 2017, "Attention is all you need", as Marian publishes it (Junczys-Dowmunt
// et al. 2018). Post-norm, sinusoidal positions, cross-attention, one embedding for all. Weight names as on Hugging
// Face (MarianMTModel).
#include <cmath>

#include "attune/base/error.h"
#include "attune/models/architecture.h"
#include "attune/models/config_values.h"
#include "attune/nn/embedding.h"
#include "attune/nn/position/sinusoidal_positions.h"
#include "attune/ops/arithmetic.h"

namespace attune {

namespace {

struct MarianConfig {
  struct StackSizes {
    std::int64_t layers, heads, feedforward;
  };
  std::int64_t vocab_size, d_model, positions, pad_token_id, decoder_start_token_id, eos_token_id;
  StackSizes encoder, decoder;
  Activation activation;
  double dropout, attention_dropout, activation_dropout, deviation;
  bool scale_embedding;

  static StackSizes read_stack(const ConfigReader& c, const std::string& stack, std::int64_t d_model) {
    StackSizes s;
    s.layers = c.integer_or(stack + "_layers", 12, {.at_least = 1});
    s.heads = c.integer_or(stack + "_attention_heads", 16, {.at_least = 1});
    s.feedforward = c.integer_or(stack + "_ffn_dim", 4096, {.at_least = 1});
    if (d_model % s.heads != 0) c.reject(stack + "_attention_heads", "must divide d_model");
    if (c.number_or(stack + "_layerdrop", 0) != 0)
      c.reject(stack + "_layerdrop", "give 0: layers are not dropped here");
    return s;
  }
  static MarianConfig read(const ConfigReader& c) {
    MarianConfig m;
    m.vocab_size = c.integer_or("vocab_size", 58101, {.at_least = 1});
    m.d_model = c.integer_or("d_model", 1024, {.at_least = 2});
    m.positions = c.integer_or("max_position_embeddings", 1024, {.at_least = 1});
    m.encoder = read_stack(c, "encoder", m.d_model);
    m.decoder = read_stack(c, "decoder", m.d_model);
    m.activation = read_activation(c, "activation_function", "gelu");
    m.dropout = c.number_or("dropout", 0.1, {0, 1});
    m.attention_dropout = c.number_or("attention_dropout", 0, {0, 1});
    m.activation_dropout = c.number_or("activation_dropout", 0, {0, 1});
    m.deviation = c.number_or("init_std", 0.02, {.at_least = 0, .at_most = 100});
    m.scale_embedding = c.flag_or("scale_embedding", false);
    m.pad_token_id = c.integer_or("pad_token_id", 58100, {.at_least = 0});
    m.decoder_start_token_id = c.integer_or("decoder_start_token_id", 58100, {.at_least = 0});
    m.eos_token_id = c.integer_or("eos_token_id", 0, {.at_least = 0});
    if (c.integer_or("decoder_vocab_size", m.vocab_size) != m.vocab_size)
      c.reject("decoder_vocab_size", "must equal vocab_size");
    for (const char* shared : {"share_encoder_decoder_embeddings", "tie_word_embeddings", "is_encoder_decoder",
                               "static_position_embeddings"})
      if (!c.flag_or(shared, true))
        c.reject(shared, "a Marian model here has one embedding for all, and sinusoidal positions");
    c.ignore({"forced_eos_token_id", "forced_bos_token_id", "is_decoder", "bos_token_id", "classifier_dropout",
              "num_hidden_layers", "num_beams", "max_length", "bad_words_ids", "add_bias_logits",
              "add_final_layer_norm", "normalize_before", "normalize_embedding", "extra_pos_embeddings",
              "classif_dropout"});
    for (const char* off : {"add_final_layer_norm", "normalize_before", "normalize_embedding"})
      if (c.flag_or(off, false)) c.reject(off, "not a layout that Marian's post-norm block has");
    return m;
  }
};

MultiHead marian_attention(const Weights& w, const MarianConfig& c, std::int64_t heads, AttentionMask mask) {
  LinearOptions dense{.deviation = c.deviation};
  return {.query = Linear(w / "q_proj", c.d_model, c.d_model, dense),
          .key = Linear(w / "k_proj", c.d_model, c.d_model, dense),
          .value = Linear(w / "v_proj", c.d_model, c.d_model, dense),
          .output = Linear(w / "out_proj", c.d_model, c.d_model, dense),
          .sizes = {heads, heads, c.d_model / heads},
          .rule = {.mask = mask},
          .dropout = c.attention_dropout};
}

Block marian_block(const Weights& w, const MarianConfig& c, Place place) {
  constexpr double epsilon = 1e-5;  // PyTorch's default: the config has no key for it
  bool decoder = place.stack == Stack::decoder;
  const MarianConfig::StackSizes& sizes = decoder ? c.decoder : c.encoder;
  LinearOptions dense{.deviation = c.deviation};
  Block block{.attention = marian_attention(w / "self_attn", c, sizes.heads, decoder ? causal() : bidirectional()),
              .attention_norm = Norm::layer(w / "self_attn_layer_norm", c.d_model, epsilon),
              .feedforward = {.up = Linear(w / "fc1", c.d_model, sizes.feedforward, dense),
                              .down = Linear(w / "fc2", sizes.feedforward, c.d_model, dense),
                              .activation = c.activation,
                              .dropout = c.activation_dropout},
              .feedforward_norm = Norm::layer(w / "final_layer_norm", c.d_model, epsilon),
              .order = NormOrder::post,
              .dropout = c.dropout,
              .place = place};
  if (decoder) {
    block.cross = marian_attention(w / "encoder_attn", c, sizes.heads, bidirectional());
    block.cross_norm = Norm::layer(w / "encoder_attn_layer_norm", c.d_model, epsilon);
  }
  return block;
}

/// The shared embedding as the output layer, with a bias that is kept but not trained.
class MarianHead : public Head {
 public:
  MarianHead(const Weights& root, const Embedding& shared, std::int64_t vocab_size) {
    shared.tied(root, "lm_head.weight");
    Tensor bias = root.constant("final_logits_bias", {1, vocab_size}, Initial::zeros());
    output_ = Linear(shared.as_matrix(), bias.as_shape({vocab_size}));
  }
  Tensor features(const Tensor& hidden, const Batch&, const std::vector<std::int64_t>* rows) const override {
    return pick(hidden, rows);
  }
  const Linear& output() const override { return output_; }

 private:
  Linear output_;
};

class Marian : public Model {
 public:
  Marian(const MarianConfig& c, HeadKind head, WeightSource source)
      : Model(std::move(source), {.unused = {"embed_positions.weight"}, .may_be_new = {"final_logits_bias"}}),
        config_(c),
        positions_(c.positions, c.d_model, SinusoidalLayout::halves) {
    Weights root(parameters_), w = root / "model";
    shared_ = Embedding(w / "shared", c.vocab_size, c.d_model, c.pad_token_id, c.deviation);
    for (const char* stack : {"encoder", "decoder"}) shared_.tied(w / stack / "embed_tokens", "weight");
    for (int i = 0; i < c.encoder.layers; ++i)
      encoder_.push_back(marian_block(w / "encoder" / "layers" / i, c, {Stack::encoder, i}));
    for (int i = 0; i < c.decoder.layers; ++i)
      decoder_.push_back(marian_block(w / "decoder" / "layers" / i, c, {Stack::decoder, i}));
    if (head == HeadKind::sequence_to_sequence) head_ = std::make_unique<MarianHead>(root, shared_, c.vocab_size);
    facts_ = {.model_type = "marian",
              .head = head,
              .vocab_size = c.vocab_size,
              .hidden_size = c.d_model,
              .layers = c.decoder.layers,
              .longest = c.positions,
              .pad_token_id = c.pad_token_id,
              .decoder_start_token_id = c.decoder_start_token_id,
              .eos_token_ids = {c.eos_token_id},
              .cached_attention = {c.decoder.heads, c.decoder.heads, c.d_model / c.decoder.heads}};
  }
  const ModelFacts& facts() const override { return facts_; }

  Memory encode(const Batch& batch, Observer* observer) const override {
    return {run(encoder_, embed(batch, Stack::encoder, observer), batch, observer), batch.offsets};
  }
  Tensor forward(const Batch& batch, const Memory& memory, Observer* observer) const override {
    return run(decoder_, embed(batch, Stack::decoder, observer), batch, observer, &memory);
  }
  Tensor forward(const Batch&, Observer*) const override {
    fail("a marian model decodes from what its encoder read: give it a source text");
  }
  const std::vector<Block>& decoding_blocks() const override { return decoder_; }

 private:
  Tensor embed(const Batch& batch, Stack stack, Observer* observer) const {
    Tensor words = shared_(batch.ids);  // [tokens, d_model]
    if (config_.scale_embedding) words = scale(words, std::sqrt(static_cast<double>(config_.d_model)));
    Tensor x = add(words, positions_(batch).to(words.dtype()));
    x = batch.dropped(x, config_.dropout, batch.site(stack == Stack::encoder ? "embeddings" : "decoder embeddings"));
    if (observer) observer->hidden_state(stack, 0, x);
    return x;
  }

  MarianConfig config_;
  SinusoidalPositions positions_;
  ModelFacts facts_;
  Embedding shared_;
  std::vector<Block> encoder_, decoder_;
};

const RegisterArchitecture marian({
    .model_type = "marian",
    .classes = {{"MarianModel", HeadKind::none}, {"MarianMTModel", HeadKind::sequence_to_sequence}},
    .dropout_keys = {"dropout", "attention_dropout", "activation_dropout"},
    .build = [](const ConfigReader& config, HeadKind head, WeightSource source) -> std::unique_ptr<Model> {
      return std::make_unique<Marian>(MarianConfig::read(config), head, std::move(source));
    },
});

}  // namespace

}  // namespace attune
