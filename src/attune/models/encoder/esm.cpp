// ESM-2: Lin et al. 2023, "Evolutionary-scale prediction of atomic-level protein structure with a language model". BERT
// with norms in front, rotary or learned positions, and a final norm. Weight names as published on Hugging Face.
// Surprises there: embeddings are not dropped from; with token_dropout, mask tokens' vectors are zeros and all others
// of their sequence are scaled by what training hid on average, (1 - 0.15 x 0.8) / (1 - share of masks), padding tokens
// counted; the rotary frequencies of a file go before those computed, because older files hold rounded ones, which the
// model was trained with. The head of contacts is left out. A sequence of mask tokens alone, for which the formula
// divides by zero, has zeros here.
#include "attune/models/encoder/bert_family.h"
#include "attune/models/encoder/counted_positions.h"
#include "attune/ops/arithmetic.h"

namespace attune {

namespace {

/// Token dropout: the words' vectors, each times its factor. words: [tokens, hidden]
Tensor without_masks(const Tensor& words, const Batch& batch, std::int64_t mask_token_id) {
  constexpr double hidden_in_training = 0.15 * 0.8;
  const auto ids = batch.ids.values<std::int64_t>();
  const auto width = static_cast<std::size_t>(words.dim(1));
  std::vector<float> factors(ids.size() * width);  // [tokens, hidden]
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    const auto begin = static_cast<std::size_t>(batch.offsets.begin(s)),
               end = begin + static_cast<std::size_t>(batch.offsets.length(s));
    double left = 0;
    for (std::size_t t = begin; t < end; ++t) left += ids[t] == mask_token_id ? 0 : 1;
    const double factor = left > 0 ? (1 - hidden_in_training) / (left / static_cast<double>(end - begin)) : 0;
    for (std::size_t t = begin; t < end; ++t)
      if (ids[t] != mask_token_id)
        for (std::size_t i = 0; i < width; ++i) factors[t * width + i] = static_cast<float>(factor);
  }
  return multiply(words, Tensor::from<float>(words.shape(), factors).to(words.dtype()));
}

BertFamily read_values(const ConfigReader& c) {
  BertFamily b = BertFamily::read(c, {.positions = 1026, .types = 0});
  b.vocab_size = c.integer("vocab_size", {.at_least = 1, .at_most = 1 << 28});  // no default
  b.pad_token_id = c.integer("pad_token_id", {.at_least = 0});
  b.types = 0;
  if (b.activation != Activation::gelu) c.reject("hidden_act", "this architecture has gelu alone");
  if (c.flag_or("is_folding_model", false)) c.reject("is_folding_model", "ESMFold is another model");
  // Of ESMFold, and of heads: they take hidden_dropout_prob.
  c.ignore({"esmfold_config", "vocab_list", "classifier_dropout"});
  b.order = NormOrder::pre;
  b.names.attention_norm = "attention.LayerNorm";
  b.names.feedforward_norm = "LayerNorm";
  return b;
}

EncoderSpec read_esm(const ConfigReader& c) {
  const BertFamily b = read_values(c);
  EncoderSpec spec = b.spec("esm", "esm");
  spec.names.embedding_norm = "embeddings.layer_norm";
  spec.names.norm = "encoder.emb_layer_norm_after";
  spec.names.norms = {"LayerNorm", "layer_norm", "emb_layer_norm_after"};
  spec.names.unused.insert(spec.names.unused.end(),
                           {".inv_freq", "contact_head.regression.weight", "contact_head.regression.bias",
                            "embeddings.position_embeddings.weight"});
  spec.embedding_steps = {};
  if (c.flag_or("emb_layer_norm_before", false)) spec.embedding_steps = {EmbeddingStep::norm};
  spec.norm = [b](const Weights& w) { return b.norm(w, b.hidden_size); };
  if (c.flag_or("token_dropout", false)) {
    const std::int64_t mask = c.integer("mask_token_id", {.at_least = 0});
    spec.rescaled = [mask](const Tensor& words, const Batch& batch) { return without_masks(words, batch, mask); };
  }
  const double theta = c.number_or("rope_theta", 10000, {.at_least = 1e-6});
  if (c.choice_or("position_embedding_type", "absolute", {"absolute", "rotary"}) == "rotary") {
    if (b.head_dim() % 2 != 0) c.reject("num_attention_heads", "rotary positions need an even head_dim");
    spec.rope = {{.theta = theta, .rotary_dims = b.head_dim()}};
    // The last is what transformers 5 writes, an asterisk for the layer.
    spec.frequencies = {"rotary_embeddings.inv_freq", "encoder.layer.*.attention.self.rotary_embeddings.inv_freq",
                        "encoder.layer.0.attention.self.rotary_embeddings.inv_freq"};
    spec.positions = {};
    spec.longest = {};
  } else {
    const auto count = PositionCount::behind_padding(b.positions, *b.pad_token_id);
    if (count.longest() < 1) c.reject("max_position_embeddings", "positions begin behind pad_token_id: give more");
    spec.longest = count.longest();
    spec.positions = [b, count](const Weights& base) {
      return counted_positions(base / "embeddings.position_embeddings", count, b.hidden_size, b.deviation);
    };
  }
  HeadLayers masked = b.masked_lm("lm_head", "dense", "layer_norm");
  masked.untied_bias = masked.tied_bias;
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier_of_two_layers(Activation::tanh, b.hidden_dropout)},
                {HeadKind::tag, output_alone("classifier", b.hidden_dropout)}};
  return spec;
}

const RegisterArchitecture esm(encoder_architecture(
    {.model_type = "esm", .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob"}}, "Esm", read_esm));

}  // namespace

}  // namespace attune
