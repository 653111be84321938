// The original Transformer: Vaswani et al. 2017, "Attention is all you need", as Marian publishes it (Junczys-Dowmunt
// et al. 2018). Post-norm, sinusoidal positions, cross-attention, one embedding for all. Weight names as on Hugging
// Face (MarianMTModel).
#include "attune/models/encoder_decoder/bart_family.h"

namespace attune {

namespace {

EncoderDecoderSpec read_marian(const ConfigReader& config) {
  const BartFamily family = BartFamily::read(config, {.position_table = BartFamily::Positions::sinusoidal,
                                                      .vocab_size = 58101,
                                                      .pad_token_id = 58100,
                                                      .decoder_start_token_id = 58100,
                                                      .eos_token_ids = {0}});
  if (config.integer_or("decoder_vocab_size", family.vocab_size) != family.vocab_size)
    config.reject("decoder_vocab_size", "must equal vocab_size: encoder and decoder share their words here");
  if (!config.flag_or("share_encoder_decoder_embeddings", true))
    config.reject("share_encoder_decoder_embeddings", "a Marian model here has one vocabulary for all");
  return family.spec("marian");
}

const RegisterArchitecture marian(encoder_decoder_architecture(
    {.model_type = "marian",
     .classes = {{"MarianModel", HeadKind::none}, {"MarianMTModel", HeadKind::sequence_to_sequence}},
     .dropout_keys = {"dropout", "attention_dropout", "activation_dropout"},
     .build = {}},
    read_marian));

}  // namespace

}  // namespace attune
