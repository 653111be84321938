// M2M-100: Fan et al. 2021, "Beyond English-centric multilingual machine translation", and NLLB: NLLB team 2022, "No
// language left behind". Norms before the sublayers and one on each stack's output, relu, sinusoidal positions of
// fairseq's kind. Weight names as on Hugging Face (M2M100ForConditionalGeneration).
//
// Three things surprise. The sinusoids' wavelengths end at 10000, not before it, and are computed in f32. Positions
// count from the padding token's id + 1, over tokens that are no padding; padding tokens stand at that id, a row of
// zeros. encoder_layerdrop and decoder_layerdrop are 0.05 where a config says nothing.
#include <cmath>

#include "attune/base/error.h"
#include "attune/models/encoder_decoder/bart_family.h"

namespace attune {

namespace {

/// sin(p f_i) for all i, then cos(p f_i), f_i = 10000^(-i / (half - 1)), then 0 where the width is odd.
void write_sinusoids(std::int64_t position, std::span<float> row) {
  const auto half = row.size() / 2;
  const float step = -static_cast<float>(std::log(10000.0) / static_cast<double>(half - 1));
  for (std::size_t i = 0; i < half; ++i) {
    const float angle = static_cast<float>(position) * std::exp(static_cast<float>(i) * step);
    row[i] = static_cast<float>(std::sin(static_cast<double>(angle)));
    row[half + i] = static_cast<float>(std::cos(static_cast<double>(angle)));
  }
}

/// [tokens, width], f32
Tensor m2m_positions(const Batch& batch, std::int64_t padding, std::int64_t width) {
  const std::span<const std::int64_t> ids = batch.ids.values<std::int64_t>();
  const std::span<const std::int64_t> places = batch.positions.values<std::int64_t>();
  Tensor rows = Tensor::zeros({batch.tokens(), width});
  const std::span<float> values = rows.mutable_values<float>();
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    if (batch.offsets.length(s) == 0) continue;
    std::int64_t place = padding + places[static_cast<std::size_t>(batch.offsets.begin(s))];
    for (std::int64_t t = batch.offsets.begin(s); t < batch.offsets.end(s); ++t) {
      if (ids[static_cast<std::size_t>(t)] == padding) continue;
      write_sinusoids(++place, values.subspan(static_cast<std::size_t>(t * width), static_cast<std::size_t>(width)));
    }
  }
  return rows;
}

EncoderDecoderSpec read_m2m(const ConfigReader& config) {
  const BartFamily::StackSizes stack{.layerdrop = 0.05};
  const BartFamily family = BartFamily::read(config, {.order = NormOrder::pre,
                                                      .final_norm = true,
                                                      .logits_bias = false,
                                                      .position_table = BartFamily::Positions::sinusoidal,
                                                      .vocab_size = 128112,
                                                      .encoder = stack,
                                                      .decoder = stack,
                                                      .activation = Activation::relu,
                                                      .attention_dropout = 0.1,
                                                      .scale_embedding = true,
                                                      .decoder_start_token_id = 2});
  if (family.hidden_size < 4)
    config.reject("d_model", "give 4 or more: sinusoidal positions of this kind need as many");
  EncoderDecoderSpec spec = family.spec("m2m_100");
  spec.positions = [padding = family.pad_token_id.value_or(1), width = family.hidden_size](const Weights& stack) {
    return [=, type = stack.type()](const Batch& batch) { return m2m_positions(batch, padding, width).to(type); };
  };
  // Made anew whatever a file holds.
  for (const char* name : {"embed_positions.weights", "embed_positions.weight", "final_logits_bias"})
    spec.names.unused.push_back(name);
  return spec;
}

const RegisterArchitecture m2m_100(encoder_decoder_architecture(
    {.model_type = "m2m_100",
     .classes = {{"M2M100Model", HeadKind::none}, {"M2M100ForConditionalGeneration", HeadKind::sequence_to_sequence}},
     .dropout_keys = {"dropout", "attention_dropout", "activation_dropout"},
     .build = {}},
    read_m2m));

}  // namespace

}  // namespace attune
