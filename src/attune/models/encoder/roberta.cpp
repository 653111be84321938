// RoBERTa: Liu et al. 2019, "RoBERTa: a robustly optimized BERT pretraining approach"; XLM-RoBERTa: Conneau et al.
// 2020, "Unsupervised cross-lingual representation learning at scale"; CamemBERT: Martin et al. 2020, "CamemBERT: a
// tasty French language model". BERT with positions counted behind the padding token's row, and heads of its own.
// Weight names as published on Hugging Face, where the three differ in nothing but their model_type and classes.
#include "attune/models/encoder/bert_family.h"
#include "attune/models/encoder/counted_positions.h"

namespace attune {

namespace {

EncoderSpec read_roberta_family(const ConfigReader& c, const char* model_type, std::int64_t vocab_size) {
  const BertFamily b = BertFamily::read(c, {.vocab_size = vocab_size, .pad_token_id = 1});
  c.choice_or("position_embedding_type", "absolute", {"absolute"});
  const double dropout = c.number_or("classifier_dropout", b.hidden_dropout, {0, 1});
  const auto count = PositionCount::behind_padding(b.positions, *b.pad_token_id);
  if (count.longest() < 1) c.reject("max_position_embeddings", "positions begin behind pad_token_id: give more");
  EncoderSpec spec = b.spec(model_type, "roberta");
  spec.longest = count.longest();
  spec.positions = [b, count](const Weights& base) {
    return counted_positions(base / "embeddings.position_embeddings", count, b.hidden_size, b.deviation);
  };
  HeadLayers masked = b.masked_lm("lm_head", "dense", "layer_norm");
  masked.activation = Activation::gelu;  // whatever hidden_act is
  spec.names.norms.push_back("layer_norm");
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier_of_two_layers(Activation::tanh, dropout)},
                {HeadKind::tag, output_alone("classifier", dropout)},
                {HeadKind::answer, output_alone("qa_outputs", 0)}};
  return spec;
}

EncoderSpec read_roberta(const ConfigReader& c) { return read_roberta_family(c, "roberta", 50265); }
EncoderSpec read_xlm_roberta(const ConfigReader& c) { return read_roberta_family(c, "xlm-roberta", 30522); }
EncoderSpec read_camembert(const ConfigReader& c) { return read_roberta_family(c, "camembert", 30522); }

Architecture named(const char* model_type, const char* prefix, EncoderSpec (*read)(const ConfigReader&)) {
  return encoder_architecture(
      {.model_type = model_type,
       .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout"}},
      prefix, read);
}

const RegisterArchitecture roberta(named("roberta", "Roberta", read_roberta));
const RegisterArchitecture xlm_roberta(named("xlm-roberta", "XLMRoberta", read_xlm_roberta));
const RegisterArchitecture camembert(named("camembert", "Camembert", read_camembert));

}  // namespace

}  // namespace attune
