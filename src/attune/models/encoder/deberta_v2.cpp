// DeBERTa: He et al. 2021, "DeBERTa: decoding-enhanced BERT with disentangled attention", versions 2 and 3 (He et al.
// 2023, "DeBERTaV3"). BERT whose scores add content to position and position to content, with a convolution beside the
// first block in version 2. Weight names as published on Hugging Face. Surprises there: pos_att_type scales the scores
// even where relative_attention is off; a file without "legacy": false has its masked language model in
// cls.predictions, and one with it in lm_predictions, whose output is always the words' table. In training the table of
// relative positions is not dropped from here.
#include <algorithm>
#include "attune/base/json_values.h"

#include "attune/models/config_values.h"
#include "attune/models/encoder/bert_family.h"
#include "attune/models/encoder/convolution.h"
#include "attune/nn/position/deberta.h"
#include "attune/nn/position/learned.h"
#include "attune/ops/activation.h"
#include "attune/ops/arithmetic.h"

namespace attune {

namespace {

struct DebertaConfig : BertFamily {
  bool relative = false, content_to_position = false, position_to_content = false, shared_keys = false;
  bool normed_positions = false, positions_in_input = true, legacy = true;
  DebertaBuckets buckets = {};
  std::int64_t embedding_size = 0, kernel = 0, groups = 1;
  Activation convolution_activation = Activation::tanh;

  static DebertaConfig read(const ConfigReader& c);
  BlockOf blocks(const Weights& base) const;
  Tensor relative_table(const Weights& encoder) const {
    return (encoder / "rel_embeddings")
        .parameter("weight", {2 * buckets.span, hidden_size}, Initial::normal(deviation));
  }
};

/// "p2c|c2p", or a list.
void read_kinds(const ConfigReader& c, DebertaConfig& d) {
  std::string kinds;
  if (c.has("pos_att_type") && c.raw("pos_att_type").is_string())
    kinds = c.string("pos_att_type");
  else
    for (const std::string& kind : c.strings_or("pos_att_type", {})) kinds += (kinds.empty() ? "" : "|") + kind;
  for (std::size_t at = 0; at < kinds.size();) {
    const std::size_t end = std::min(kinds.find('|', at), kinds.size());
    const std::string kind = kinds.substr(at, end - at);
    if (kind != "c2p" && kind != "p2c") c.reject("pos_att_type", "expected c2p, p2c or both, as \"p2c|c2p\" or a list");
    (kind == "c2p" ? d.content_to_position : d.position_to_content) = true;
    at = end + 1;
  }
}

DebertaConfig DebertaConfig::read(const ConfigReader& c) {
  DebertaConfig d{BertFamily::read(c, {.vocab_size = 128100,
                                       .hidden_size = 1536,
                                       .layers = 24,
                                       .heads = 24,
                                       .intermediate_size = 6144,
                                       .types = 0,
                                       .epsilon = 1e-7})};
  d.relative = c.flag_or("relative_attention", false);
  read_kinds(c, d);
  d.shared_keys = c.flag_or("share_att_key", false);
  d.normed_positions = c.choice_or("norm_rel_ebd", "none", {"none", "layer_norm"}) == "layer_norm";
  d.positions_in_input = c.flag_or("position_biased_input", true);
  d.legacy = c.flag_or("legacy", true);
  constexpr ConfigRange any{.at_least = -1, .at_most = 1 << 24};
  const std::int64_t longest = c.integer_or("max_relative_positions", -1, any);
  d.buckets.longest = longest < 1 ? d.positions : longest;
  d.buckets.buckets = std::max<std::int64_t>(c.integer_or("position_buckets", -1, any), 0);
  d.buckets.span = d.buckets.buckets > 0 ? d.buckets.buckets : d.buckets.longest;
  if (d.buckets.buckets > 0 && d.buckets.longest - 1 <= d.buckets.buckets / 2)
    c.reject("position_buckets",
             "half of them give short distances one each: expected fewer than "
             "2 (max_relative_positions - 1)");
  d.embedding_size = c.integer_or("embedding_size", d.hidden_size, {.at_least = 1, .at_most = 1 << 28});
  if (c.integer_or("attention_head_size", d.head_dim(), {.at_least = 1}) != d.head_dim())
    c.reject("attention_head_size", "expected hidden_size / num_attention_heads");
  d.kernel = c.integer_or("conv_kernel_size", 0, {.at_least = 0, .at_most = 1 << 16});
  if (d.kernel > 0 && d.kernel % 2 == 0) c.reject("conv_kernel_size", "must be odd, or 0 for no convolution");
  d.groups = c.integer_or("conv_groups", 1, {.at_least = 1, .at_most = 1 << 24});
  if (d.hidden_size % d.groups != 0) c.reject("conv_groups", "must divide hidden_size");
  d.convolution_activation = read_activation(c, "conv_act", "tanh");
  d.names.query = "attention.self.query_proj";
  d.names.key = "attention.self.key_proj";
  d.names.value = "attention.self.value_proj";
  return d;
}

BlockOf DebertaConfig::blocks(const Weights& base) const {
  DisentangledPositions shared{.table = {}, .key = {}, .query = {}, .heads = heads, .buckets = buckets};
  const Weights encoder = base / "encoder";
  if (relative) {
    const Tensor table = relative_table(encoder);
    shared.table = [table] { return table; };
    if (normed_positions) shared.table = [table, by = norm(encoder / "LayerNorm", hidden_size)] { return by(table); };
  }
  const int parts = (content_to_position ? 1 : 0) + (position_to_content ? 1 : 0);
  std::function<Tensor(const Tensor&, const Tensor&, const Batch&)> convolution;
  if (kernel > 0) {
    const Weights conv = encoder / "conv";
    convolution = [own = Convolution(conv / "conv", {hidden_size, kernel, groups, deviation}),
                   by = norm(conv / "LayerNorm", hidden_size), act = convolution_activation,
                   rate = hidden_dropout](const Tensor& in, const Tensor& out, const Batch& batch) {
      return by(
          add(out, attune::activation(batch.dropped(own(in, batch.offsets), rate, batch.site("convolution")), act)));
    };
  }
  return [d = *this, shared, parts, convolution](const Weights& w, Place place) {
    Block block = d.block(w, place);
    AttentionRule& rule = block.attention.rule;
    rule.scale = deberta_scale(d.head_dim(), parts);
    if (d.relative && parts > 0) {
      const Weights self = w / "attention.self";
      const auto projection = [&](const char* name, const Linear& of_content) {
        return d.shared_keys ? of_content
                             : Linear(self / name, d.hidden_size, d.hidden_size, {.deviation = d.deviation});
      };
      DisentangledPositions own = shared;
      if (d.content_to_position) own.key = projection("pos_key_proj", block.attention.key);
      if (d.position_to_content) own.query = projection("pos_query_proj", block.attention.query);
      rule.scores = disentangled_scores(own);
    }
    if (place.layer == 0) block.revised = convolution;
    return block;
  };
}

HeadLayers classifier_of(const ConfigReader& c, const DebertaConfig& d) {
  if (c.integer_or("pooler_hidden_size", d.hidden_size, {.at_least = 1}) != d.hidden_size)
    c.reject("pooler_hidden_size", "expected hidden_size");
  HeadLayers classifier = classifier_of_pooler("pooler.dense", c.number_or("cls_dropout", d.hidden_dropout, {0, 1}));
  classifier.dropout_before = c.number_or("pooler_dropout", 0, {0, 1});
  classifier.activation = read_activation(c, "pooler_hidden_act", "gelu");
  return classifier;
}

EncoderSpec read_deberta(const ConfigReader& c) {
  const DebertaConfig d = DebertaConfig::read(c);
  EncoderSpec spec = d.spec("deberta-v2", "deberta");
  spec.embedding_size = d.embedding_size;
  spec.names.projection = "embeddings.embed_proj";
  spec.projection_bias = false;
  if (d.embedding_size != d.hidden_size)
    spec.embedding_steps = {EmbeddingStep::project, EmbeddingStep::norm, EmbeddingStep::dropout};
  if (d.positions_in_input) {
    spec.positions = [d](const Weights& base) -> std::function<Tensor(const Batch&)> {
      return LearnedPositions(base / "embeddings.position_embeddings", d.positions, d.embedding_size, d.deviation);
    };
  } else {
    spec.positions = {};
    spec.longest = {};
    spec.names.unused.push_back("embeddings.position_embeddings.weight");
  }
  if (!d.relative)
    for (const char* name : {"encoder.LayerNorm.weight", "encoder.LayerNorm.bias"}) spec.names.unused.push_back(name);
  for (const char* head : {"mask_predictions.", "lm_predictions.lm_head."})
    for (const char* part : {"dense.weight", "dense.bias", "LayerNorm.weight", "LayerNorm.bias", "classifier.weight",
                             "classifier.bias", "bias"})
      spec.names.unused.push_back(head + std::string(part));
  spec.blocks = [d](const Weights& base, HeadKind) { return d.blocks(base); };
  HeadLayers masked = d.masked_lm("cls.predictions", "transform.dense", "transform.LayerNorm");
  masked.width = d.embedding_size;
  if (!d.legacy) {
    masked = d.masked_lm("lm_predictions.lm_head", "dense", "LayerNorm");
    masked.output = masked.untied_bias = "";
    spec.tied = true;
  }
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier_of(c, d)},
                {HeadKind::tag, output_alone("classifier", d.hidden_dropout)},
                {HeadKind::answer, output_alone("qa_outputs", 0)}};
  return spec;
}

const RegisterArchitecture deberta_v2(encoder_architecture(
    {.model_type = "deberta-v2",
     .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob", "pooler_dropout", "cls_dropout"}},
    "DebertaV2", read_deberta));

}  // namespace

}  // namespace attune
