// BERT: Devlin et al. 2019, "BERT: pre-training of deep bidirectional Transformers". Post-norm, learned positions, two
// segments. Weight names as published on Hugging Face. Where tie_word_embeddings is false, the output's live bias is
// cls.predictions.decoder.bias, and cls.predictions.bias is a leftover.
#include "attune/models/encoder/bert_family.h"

namespace attune {

namespace {

Pooling read_pooling(const ConfigReader& c) {
  const std::string name = c.choice_or("classifier_pooling", "cls", {"cls", "mean", "max"});
  if (name == "mean") return Pooling::mean;
  return name == "max" ? Pooling::max : Pooling::first_token;
}

EncoderSpec read_bert(const ConfigReader& c) {
  const BertFamily b = BertFamily::read(c, {});
  c.choice_or("position_embedding_type", "absolute", {"absolute"});
  const double dropout = c.number_or("classifier_dropout", b.hidden_dropout, {0, 1});
  EncoderSpec spec = b.spec("bert", "bert");
  spec.names.unused.insert(spec.names.unused.end(), {"cls.seq_relationship.weight", "cls.seq_relationship.bias"});
  HeadLayers classifier = classifier_of_pooler("bert.pooler.dense", dropout);
  classifier.pooling = read_pooling(c);  // the first token as published, or Attune's own mean or max
  spec.heads = {{HeadKind::masked_lm, b.masked_lm("cls.predictions", "transform.dense", "transform.LayerNorm")},
                {HeadKind::classify, classifier},
                {HeadKind::tag, output_alone("classifier", dropout)},
                {HeadKind::answer, output_alone("qa_outputs", 0)}};
  return spec;
}

// A pretraining file's other head, of next sentences, is left out.
const RegisterArchitecture bert(encoder_architecture(
    {.model_type = "bert",
     .classes = {{"BertForPreTraining", HeadKind::masked_lm}},
     .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout"}},
    "Bert", read_bert));

}  // namespace

}  // namespace attune
