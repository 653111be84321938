// PEGASUS: Zhang et al. 2020, "PEGASUS: pre-training with extracted gap-sentences for abstractive summarization".
// Norms before the sublayers and one on each stack's output, sinusoidal positions. Weight names as on Hugging Face
// (PegasusForConditionalGeneration).
#include "attune/models/encoder_decoder/bart_family.h"

namespace attune {

namespace {

EncoderDecoderSpec read_pegasus(const ConfigReader& config) {
  return BartFamily::read(config, {.order = NormOrder::pre,
                                   .final_norm = true,
                                   .position_table = BartFamily::Positions::sinusoidal,
                                   .pad_token_id = 0,
                                   .decoder_start_token_id = 0,
                                   .eos_token_ids = {1}})
      .spec("pegasus");
}

const RegisterArchitecture pegasus(encoder_decoder_architecture(
    {.model_type = "pegasus",
     .classes = {{"PegasusModel", HeadKind::none}, {"PegasusForConditionalGeneration", HeadKind::sequence_to_sequence}},
     .dropout_keys = {"dropout", "attention_dropout", "activation_dropout"},
     .build = {}},
    read_pegasus));

}  // namespace

}  // namespace attune
