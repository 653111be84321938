// T5: Raffel et al. 2020, "Exploring the limits of transfer learning with a unified text-to-text Transformer", and its
// version 1.1 (gated gelu: Shazeer 2020, "GLU variants improve Transformer"; d_kv apart from d_model / num_heads), as
// Flan-T5 is. Weight names as on Hugging Face (T5ForConditionalGeneration, T5EncoderModel).
//
// What surprises: the output layer is the embedding whatever "tie_word_embeddings" says, unless a file has another
// lm_head.weight. What that key does say is whether the decoder's output is scaled by d_model^-0.5: false, as version
// 1.1 writes it, turns that off ("scale_decoder_outputs", which transformers 5 writes, goes before it).
#include "attune/models/encoder_decoder/t5_family.h"

namespace attune {

namespace {

EncoderDecoderSpec read_t5(const ConfigReader& config) { return T5Family::read(config, {}).spec("t5"); }

const RegisterArchitecture t5(t5_family_architecture("t5", "T5", read_t5));

}  // namespace

}  // namespace attune
