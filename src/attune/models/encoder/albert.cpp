// ALBERT: Lan et al. 2020, "ALBERT: a lite BERT for self-supervised learning of language representations". BERT whose
// layers share weights, group by group, and whose embeddings are narrower and projected. Weight names as published on
// Hugging Face. Surprises there: the feed-forward's output has no dropout, and a hidden state is given for each layer
// of a group (inner_group_num).
#include "attune/models/encoder/bert_family.h"
#include "attune/nn/position/learned.h"

namespace attune {

namespace {

BertFamily read_values(const ConfigReader& c) {
  BertFamily b = BertFamily::read(c, {.vocab_size = 30000,
                                      .hidden_size = 4096,
                                      .heads = 64,
                                      .intermediate_size = 16384,
                                      .activation = Activation::gelu_tanh,
                                      .hidden_dropout = 0,
                                      .attention_dropout = 0});
  c.choice_or("position_embedding_type", "absolute", {"absolute"});
  // In published configs; no code reads them.
  c.ignore({"down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks", "layers_to_keep"});
  b.names = {.query = "attention.query",
             .key = "attention.key",
             .value = "attention.value",
             .output = "attention.dense",
             .attention_norm = "attention.LayerNorm",
             .up = "ffn",
             .down = "ffn_output",
             .feedforward_norm = "full_layer_layer_norm"};
  return b;
}

EncoderSpec read_albert(const ConfigReader& c) {
  const BertFamily b = read_values(c);
  const std::int64_t width = c.integer_or("embedding_size", 128, {.at_least = 1, .at_most = 1 << 28});
  const std::int64_t groups = c.integer_or("num_hidden_groups", 1, {.at_least = 1, .at_most = 4096});
  const std::int64_t inner = c.integer_or("inner_group_num", 1, {.at_least = 1, .at_most = 4096});
  if (groups > b.layers) c.reject("num_hidden_groups", "more groups than num_hidden_layers");
  const double dropout = c.number_or("classifier_dropout_prob", 0.1, {0, 1});
  EncoderSpec spec = b.spec("albert", "albert");
  spec.layers = b.layers * inner;
  spec.names.projection = "encoder.embedding_hidden_mapping_in";
  spec.names.norms.push_back("layer_norm");
  spec.names.unused = {".position_ids",
                       ".token_type_ids",
                       "pooler.weight",
                       "pooler.bias",
                       "sop_classifier.classifier.weight",
                       "sop_classifier.classifier.bias"};
  spec.embedding_size = width;
  spec.embedding_steps.push_back(EmbeddingStep::project);
  spec.embedding_norm = [b, width](const Weights& w) { return b.norm(w, width); };
  spec.positions = [b, width](const Weights& base) -> std::function<Tensor(const Batch&)> {
    return LearnedPositions(base / "embeddings.position_embeddings", b.positions, width, b.deviation);
  };
  spec.blocks = [b](const Weights&, HeadKind) -> BlockOf {
    return [b](const Weights& w, Place place) {
      Block block = b.block(w, place);
      block.feedforward_dropout = 0;
      return block;
    };
  };
  spec.layer_name = [layers = b.layers, groups, inner](int i) {
    const std::int64_t layer = i / inner, group = layer * groups / layers;
    return "encoder.albert_layer_groups." + std::to_string(group) + ".albert_layers." + std::to_string(i % inner);
  };
  HeadLayers masked = b.masked_lm("predictions", "dense", "LayerNorm");
  masked.width = width;
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier_of_pooler("albert.pooler", dropout)},
                {HeadKind::tag, output_alone("classifier", dropout)},
                {HeadKind::answer, output_alone("qa_outputs", 0)}};
  return spec;
}

// A pretraining file's other head, of sentence order, is left out.
const RegisterArchitecture albert(encoder_architecture(
    {.model_type = "albert",
     .classes = {{"AlbertForPreTraining", HeadKind::masked_lm}},
     .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout_prob"}},
    "Albert", read_albert));

}  // namespace

}  // namespace attune
