// mBART: Liu et al. 2020, "Multilingual denoising pre-training for neural machine translation"; mBART-50: Tang et al.
// 2020. BART with norms before the sublayers and one on each stack's output (section 2.1). Weight names as on Hugging
// Face (MBartForConditionalGeneration).
//
// A decoder's input in training begins with the last label that is no padding: mBART's texts end with their language's
// token. What it begins with in writing is the config's decoder_start_token_id.
#include "attune/models/encoder_decoder/bart_family.h"

namespace attune {

namespace {

EncoderDecoderSpec read_mbart(const ConfigReader& config) {
  EncoderDecoderSpec spec =
      BartFamily::read(config, {.order = NormOrder::pre, .embedding_norm = true, .final_norm = true}).spec("mbart");
  spec.begins_with_last_label = true;
  return spec;
}

const RegisterArchitecture mbart(bart_family_architecture("mbart", "MBart", read_mbart));

}  // namespace

}  // namespace attune
