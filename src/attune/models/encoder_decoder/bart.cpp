// BART: Lewis et al. 2020, "BART: denoising sequence-to-sequence pre-training for natural language generation,
// translation, and comprehension". The original Transformer with learned positions, gelu, and a norm on the embeddings.
// Weight names as on Hugging Face (BartForConditionalGeneration, BartForSequenceClassification).
#include "attune/models/encoder_decoder/bart_family.h"

namespace attune {

namespace {

EncoderDecoderSpec read_bart(const ConfigReader& config) {
  return BartFamily::read(config, {.embedding_norm = true, .decoder_start_token_id = 2}).spec("bart");
}

const RegisterArchitecture bart(bart_family_architecture("bart", "Bart", read_bart));

}  // namespace

}  // namespace attune
