// ELECTRA: Clark et al. 2020, "ELECTRA: pre-training text encoders as discriminators rather than generators". BERT with
// narrower embeddings that are projected, and another classifier. Weight names as published on Hugging Face. A
// discriminator's file (ElectraForPreTraining) is opened for its states: whether a token was replaced is not predicted.
#include "attune/models/encoder/bert_family.h"
#include "attune/nn/position/learned.h"

namespace attune {

namespace {

EncoderSpec read_electra(const ConfigReader& c) {
  const BertFamily b = BertFamily::read(c, {.hidden_size = 256, .heads = 4, .intermediate_size = 1024});
  c.choice_or("position_embedding_type", "absolute", {"absolute"});
  // Of a multiple-choice head, which is not here.
  c.ignore({"summary_type", "summary_use_proj", "summary_activation", "summary_last_dropout", "summary_first_dropout",
            "summary_proj_to_labels"});
  const std::int64_t width = c.integer_or("embedding_size", 128, {.at_least = 1, .at_most = 1 << 28});
  const double dropout = c.number_or("classifier_dropout", b.hidden_dropout, {0, 1});
  EncoderSpec spec = b.spec("electra", "electra");
  spec.embedding_size = width;
  if (width != b.hidden_size) spec.embedding_steps.push_back(EmbeddingStep::project);
  spec.embedding_norm = [b, width](const Weights& w) { return b.norm(w, width); };
  spec.positions = [b, width](const Weights& base) -> std::function<Tensor(const Batch&)> {
    return LearnedPositions(base / "embeddings.position_embeddings", b.positions, width, b.deviation);
  };
  for (const char* layer : {"dense", "dense_prediction"})
    for (const char* part : {".weight", ".bias"})
      spec.names.unused.push_back(std::string("discriminator_predictions.") + layer + part);
  HeadLayers masked = b.masked_lm("generator_predictions", "dense", "LayerNorm");
  masked.output = "generator_lm_head";
  masked.tied_bias = masked.untied_bias = "generator_lm_head.bias";
  masked.activation = Activation::gelu;  // whatever hidden_act is; the classifier's, too
  masked.width = width;
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier_of_two_layers(Activation::gelu, dropout)},
                {HeadKind::tag, output_alone("classifier", dropout)},
                {HeadKind::answer, output_alone("qa_outputs", 0)}};
  return spec;
}

const RegisterArchitecture electra(encoder_architecture(
    {.model_type = "electra",
     .classes = {{"ElectraForPreTraining", HeadKind::none}},
     .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout"}},
    "Electra", read_electra));

}  // namespace

}  // namespace attune
