// mT5: Xue et al. 2021, "mT5: a massively multilingual pre-trained text-to-text Transformer": T5's version 1.1. Weight
// names as on Hugging Face (MT5ForConditionalGeneration). The decoder's output is never scaled, whatever
// "tie_word_embeddings" says; published files have an lm_head.weight of their own, which is used.
#include "attune/models/encoder_decoder/t5_family.h"

namespace attune {

namespace {

EncoderDecoderSpec read_mt5(const ConfigReader& config) {
  return T5Family::read(config, {.scales_output = false,
                                 .vocab_size = 250112,
                                 .d_ff = 1024,
                                 .heads = 6,
                                 .encoder_layers = 8,
                                 .feed_forward = "gated-gelu",
                                 .decoder_start_token_id = 0})
      .spec("mt5");
}

const RegisterArchitecture mt5(t5_family_architecture("mt5", "MT5", read_mt5));

}  // namespace

}  // namespace attune
