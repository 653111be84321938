// UMT5: Chung et al. 2023, "UniMax: fairer and more effective language sampling for large-scale multilingual
// pretraining": mT5 with a table of distances in each block (section 4). Weight names as on Hugging Face
// (UMT5ForConditionalGeneration). Its decoder's output is scaled as T5's is: unless "tie_word_embeddings" is false.
#include "attune/models/encoder_decoder/t5_family.h"

namespace attune {

namespace {

EncoderDecoderSpec read_umt5(const ConfigReader& config) {
  return T5Family::read(config, {.table_in_each_block = true,
                                 .vocab_size = 250112,
                                 .d_ff = 1024,
                                 .heads = 6,
                                 .encoder_layers = 8,
                                 .feed_forward = "gated-gelu",
                                 .decoder_start_token_id = 0})
      .spec("umt5");
}

const RegisterArchitecture umt5(t5_family_architecture("umt5", "UMT5", read_umt5));

}  // namespace

}  // namespace attune
