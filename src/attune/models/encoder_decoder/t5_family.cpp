#include "attune/models/encoder_decoder/t5_family.h"

#include <fmt/core.h>

#include <cmath>

#include "attune/base/error.h"
#include "attune/models/config_values.h"
#include "attune/ops/relative_buckets.h"

namespace attune {

namespace {

/// Of weights that read so many values: 1 / sqrt of it, times the config's initializer_factor.
double deviation(double factor, std::int64_t values) { return factor / std::sqrt(static_cast<double>(values)); }

}  // namespace

void T5Family::read_feed_forward(const ConfigReader& c) {
  const std::string value = c.string_or("feed_forward_proj", feed_forward);
  const std::size_t dash = value.find('-');
  gated = dash != std::string::npos;
  if (gated && (value.substr(0, dash) != "gated" || value.find('-', dash + 1) != std::string::npos))
    c.reject("feed_forward_proj", "expected \"gated-ACTIVATION\" or \"ACTIVATION\"");
  // The name "gelu" stands for its tanh formula here, where it is gated.
  const std::string name = value == "gated-gelu" ? "gelu_new" : gated ? value.substr(dash + 1) : value;
  try {
    activation = parse_activation(name);
  } catch (const Error& error) {
    c.reject("feed_forward_proj", error.what());
  }
  // What transformers derives from it, and writes.
  if (c.string_or("dense_act_fn", name) != name)
    c.reject("dense_act_fn", fmt::format("feed_forward_proj \"{}\" says \"{}\"", value, name));
  if (c.flag_or("is_gated_act", gated) != gated)
    c.reject("is_gated_act", fmt::format("feed_forward_proj \"{}\" says otherwise", value));
}

T5Family T5Family::read(const ConfigReader& c, const T5Family& defaults) {
  constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28}, layers{.at_least = 1, .at_most = 4096};
  T5Family t = defaults;
  t.vocab_size = c.integer_or("vocab_size", t.vocab_size, count);
  t.d_model = c.integer_or("d_model", t.d_model, count);
  t.d_kv = c.integer_or("d_kv", t.d_kv, count);
  t.d_ff = c.integer_or("d_ff", t.d_ff, count);
  t.heads = c.integer_or("num_heads", t.heads, count);
  t.encoder_layers = c.integer_or("num_layers", t.encoder_layers, layers);
  t.decoder_layers = c.integer_or("num_decoder_layers", t.encoder_layers, layers);
  check_alias(c, "hidden_size", "d_model", t.d_model);
  check_alias(c, "head_dim", "d_kv", t.d_kv);
  check_alias(c, "num_attention_heads", "num_heads", t.heads);
  check_alias(c, "num_hidden_layers", "num_layers", t.encoder_layers);
  t.buckets = c.integer_or("relative_attention_num_buckets", t.buckets, {.at_least = 4, .at_most = 1 << 20});
  t.max_distance = c.integer_or("relative_attention_max_distance", t.max_distance, {.at_least = 1, .at_most = 1 << 30});
  if (t.max_distance <= t.buckets / 2)
    c.reject("relative_attention_max_distance",
             fmt::format("{} buckets give a decoder's distances below {} one each: expected a longer distance",
                         t.buckets, t.buckets / 2));
  t.read_feed_forward(c);
  t.dropout = c.number_or("dropout_rate", t.dropout, {0, 1});
  t.classifier_dropout = c.number_or("classifier_dropout", t.classifier_dropout, {0, 1});
  t.epsilon = c.number_or("layer_norm_epsilon", t.epsilon, {.at_least = 0, .at_most = 1});
  t.factor = c.number_or("initializer_factor", t.factor, {.at_least = 0, .at_most = 100});
  t.pad_token_id = read_token_id(c, "pad_token_id", t.pad_token_id, t.vocab_size);
  t.decoder_start_token_id = read_token_id(c, "decoder_start_token_id", t.decoder_start_token_id, t.vocab_size);
  t.eos_token_ids = read_token_ids(c, "eos_token_id", t.eos_token_ids);
  t.labels = label_count(c);
  // Its words are tied whatever the config says, and what it says is whether the decoder's output is scaled.
  const bool scaled = c.flag_or("tie_word_embeddings", true);
  t.scales_output = c.flag_or("scale_decoder_outputs", scaled) && t.scales_output;
  c.ignore({"n_positions", "scalable_attention"});  // of training alone; no longer read by transformers
  return t;
}

MultiHead T5Family::attention(const Weights& w) const {
  const std::int64_t inner = heads * d_kv;
  // Queries begin smaller, because scores are not scaled.
  const LinearOptions query{.bias = false, .deviation = deviation(factor, d_model * d_kv)};
  const LinearOptions other{.bias = false, .deviation = deviation(factor, d_model)};
  return {.query = Linear(w / "q", d_model, inner, query),
          .key = Linear(w / "k", d_model, inner, other),
          .value = Linear(w / "v", d_model, inner, other),
          .output = Linear(w / "o", inner, d_model, {.bias = false, .deviation = deviation(factor, inner)}),
          .sizes = {heads, heads, d_kv},
          .rule = {.mask = bidirectional(), .scale = 1},
          .dropout = dropout};
}

FeedForward T5Family::feedforward(const Weights& w) const {
  const LinearOptions in{.bias = false, .deviation = deviation(factor, d_model)};
  FeedForward layer{.up = Linear(w / (gated ? "wi_1" : "wi"), d_model, d_ff, in),
                    .down = Linear(w / "wo", d_ff, d_model, {.bias = false, .deviation = deviation(factor, d_ff)}),
                    .activation = activation,
                    .dropout = dropout};
  if (gated) layer.gate = Linear(w / "wi_0", d_model, d_ff, in);
  return layer;
}

Block T5Family::block(const Weights& w, Place place) const {
  const bool decoder = place.stack == Stack::decoder;
  auto norm = [&](const Weights& layer) { return Norm::rms(layer / "layer_norm", d_model, epsilon); };
  const Weights first = w / "layer" / 0, last = w / "layer" / (decoder ? 2 : 1);
  Block block{.attention = attention(first / "SelfAttention"),
              .attention_norm = norm(first),
              .feedforward = feedforward(last / "DenseReluDense"),
              .feedforward_norm = norm(last),
              .order = NormOrder::pre,
              .dropout = dropout,
              .place = place};
  if (decoder) {
    block.attention.rule.mask = causal();
    block.cross = attention(w / "layer" / 1 / "EncDecAttention");
    block.cross_norm = norm(w / "layer" / 1);
  }
  return block;
}

std::vector<Block> T5Family::blocks(const Weights& stack, Stack which) const {
  const bool decoder = which == Stack::decoder;
  const T5Buckets sizes{.buckets = buckets, .longest = max_distance, .both_ways = !decoder};
  ScoreChanges distances;
  std::vector<Block> all;
  for (int i = 0; i < (decoder ? decoder_layers : encoder_layers); ++i) {
    const Weights w = stack / "block" / i;
    all.push_back(block(w, {which, i}));
    if (i == 0 || table_in_each_block) {
      const Tensor table = (w / "layer" / 0 / "SelfAttention" / "relative_attention_bias")
                               .parameter("weight", {buckets, heads}, Initial::normal(deviation(factor, d_model)));
      distances = distance_bias(table, [sizes](std::int64_t distance) { return t5_bucket(distance, sizes); });
    }
    all.back().attention.rule.scores = distances;
  }
  return all;
}

EncoderDecoderSpec T5Family::spec(const std::string& model_type) const {
  return {.model_type = model_type,
          .names = {.base = "",
                    .other_base = "transformer",
                    .norm = "final_layer_norm",
                    .unused = {"EncDecAttention.relative_attention_bias.weight"}},
          .vocab_size = vocab_size,
          .hidden_size = d_model,
          .layers = decoder_layers,
          .decoder_attention = {heads, heads, d_kv},
          .deviation = factor,
          .pad_token_id = pad_token_id,
          .decoder_start_token_id = decoder_start_token_id,
          .eos_token_ids = eos_token_ids,
          .padding_learns = true,
          .norm = [t = *this](const Weights& w) { return Norm::rms(w, t.d_model, t.epsilon); },
          .blocks = [t = *this](const Weights& stack, Stack which) { return t.blocks(stack, which); },
          .dropout = dropout,
          .drops_output = true,
          .heads = {.output_scale = scales_output ? 1 / std::sqrt(static_cast<double>(d_model)) : 1,
                    .labels = labels,
                    .classifier_dropout = classifier_dropout,
                    .deviation = deviation(factor, d_model)}};
}

Architecture t5_family_architecture(const std::string& model_type, const std::string& class_prefix,
                                    EncoderDecoderSpec (*read)(const ConfigReader& config)) {
  return encoder_decoder_architecture(
      {.model_type = model_type,
       .classes = {{class_prefix + "Model", HeadKind::none},
                   {class_prefix + "ForConditionalGeneration", HeadKind::sequence_to_sequence},
                   {class_prefix + "ForSequenceClassification", HeadKind::classify},
                   {class_prefix + "EncoderModel", HeadKind::none}},
       .dropout_keys = {"dropout_rate", "classifier_dropout"},
       .build = {}},
      read);
}

}  // namespace attune
