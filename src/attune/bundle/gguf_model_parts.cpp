#include "attune/bundle/gguf_model_parts.h"

#include <algorithm>
#include "attune/base/json_values.h"

#include "attune/base/error.h"

namespace attune {

GgufConfigPart qwen_window_part() {
  return {{"sliding_window", "max_window_layers", "model_max_length", "layer_types"},
          [](const GgufConfigSource&, Json&) {},
          [](const Json& config, GgufConfigTarget& target) {
            check(config.value("use_sliding_window", Json()) != true,
                  "\"use_sliding_window\" is true: a GGUF file of {} has no place for it", target.architecture);
          }};
}

GgufConfigPart query_scale_part(std::int64_t layers_of_largest) {
  return {
      {"query_pre_attn_scalar"},
      [=](const GgufConfigSource& source, Json& config) {
        const bool largest = source.required("block_count") == layers_of_largest;
        const std::int64_t heads = std::max<std::int64_t>(source.required("attention.head_count"), 1);
        config["query_pre_attn_scalar"] = largest ? source.required("embedding_length") / heads : source.head_dim();
      },
      [=](const Json& config, GgufConfigTarget& target) {
        const auto at = [&](const char* name) { return target.metadata.integer(target.key(name)).value_or(256); };
        const std::int64_t expected = at("block_count") == layers_of_largest
                                          ? at("embedding_length") / at("attention.head_count")
                                          : at("attention.key_length");
        const double given = config.value("query_pre_attn_scalar", 256.0);
        check(given == static_cast<double>(expected),
              "\"query_pre_attn_scalar\" is {}: a GGUF file has no place for it, and readers of this one would take {}",
              given, expected);
      }};
}

GgufConfigPart no_rope_part() {
  return {{"no_rope_layers", "no_rope_layer_interval"},
          [](const GgufConfigSource& source, Json& config) {
            const std::int64_t layers = source.required("block_count");
            check(layers <= 4096, "\"{}\" is {}: at most 4096 are read", source.key("block_count"), layers);
            config["no_rope_layers"] = Json::array();
            for (std::int64_t i = 0; i < layers; ++i) config["no_rope_layers"].push_back((i + 1) % 4 != 0 ? 1 : 0);
          },
          [](const Json& config, GgufConfigTarget& target) {
            const Json turns = config.value("no_rope_layers", Json());
            check(turns.is_array() || config.value("no_rope_layer_interval", 4) == 4,
                  "\"no_rope_layer_interval\" is {}: in a GGUF file of {} every fourth layer has no positions",
                  config.value("no_rope_layer_interval", 4), target.architecture);
            for (std::size_t i = 0; i < turns.size(); ++i)
              check(turns[i] == ((i + 1) % 4 != 0 ? 1 : 0),
                    "\"no_rope_layers\" has {} for layer {}: in a GGUF file of {} every fourth layer has no positions",
                    turns[i].dump(), i, target.architecture);
          }};
}

GgufConfigPart phi3_window_part() {
  return {{"sliding_window"},
          [](const GgufConfigSource& source, Json& config) {
            const std::int64_t window = source.integer("attention.sliding_window").value_or(0);
            config["sliding_window"] = window > 0 ? Json(window) : Json();
          },
          [](const Json& config, GgufConfigTarget& target) {
            const Json window = config.value("sliding_window", Json());
            target.integer("attention.sliding_window", window.is_null() ? 0 : window.get<std::int64_t>());
          }};
}

GgufConfigPart falcon_part() {
  return {{"num_kv_heads", "multi_query", "new_decoder_architecture", "ffn_hidden_size", "num_ln_in_parallel_attn"},
          [](const GgufConfigSource& source, Json& config) {
            const std::int64_t keys = source.integer("attention.head_count_kv").value_or(1);
            const bool newer = source.has_tensor("blk.0.attn_norm_2.weight");
            config["new_decoder_architecture"] = newer;
            config["multi_query"] = keys == 1;
            config["num_kv_heads"] = keys;
            config["ffn_hidden_size"] = source.required("feed_forward_length");
          },
          [](const Json& config, GgufConfigTarget& target) {
            const std::int64_t heads = required_integer(config, "num_attention_heads");
            const bool newer = config.value("new_decoder_architecture", false),
                       shared = config.value("multi_query", true);
            check(!newer || config.value("num_ln_in_parallel_attn", 2) == 2,
                  "\"num_ln_in_parallel_attn\" is not 2: a GGUF file of falcon has two norms or the older form");
            const std::int64_t own =
                config.value("num_kv_heads", Json()).is_null() ? heads : config["num_kv_heads"].get<std::int64_t>();
            target.integer("attention.head_count_kv", newer ? own : shared ? 1 : heads);
            const Json inner = config.value("ffn_hidden_size", Json());
            target.integer("feed_forward_length",
                           inner.is_null() ? 4 * target.metadata.integer(target.key("embedding_length")).value_or(0)
                                           : inner.get<std::int64_t>());
            target.text("tensor_data_layout", "jploski");
          }};
}

GgufConfigPart neox_base_part() {
  return {{"rotary_emb_base"},
          [](const GgufConfigSource&, Json& config) { config["rotary_emb_base"] = config["rope_theta"]; },
          [](const Json&, GgufConfigTarget&) {}};
}

GgufConfigPart inner_part(const std::string& published) {
  return {{published},
          [=](const GgufConfigSource& source, Json& config) {
            const std::int64_t inner = source.required("feed_forward_length");
            if (inner != 4 * source.required("embedding_length")) config[published] = inner;
          },
          [=](const Json& config, GgufConfigTarget& target) {
            const Json inner = config.value(published, Json());
            target.integer("feed_forward_length",
                           inner.is_null() ? 4 * target.metadata.integer(target.key("embedding_length")).value_or(0)
                                           : inner.get<std::int64_t>());
          }};
}

GgufConfigPart mpt_part() {
  // Of the later ones the architecture takes one value alone, or none of them counts (models/decoder/mpt.cpp).
  return {{"attn_config", "expansion_ratio", "no_bias", "embedding_fraction", "norm_type", "learned_pos_emb",
           "init_config", "init_device", "tokenizer_name", "verbose"},
          [](const GgufConfigSource& source, Json& config) {
            const double most = source.number("attention.max_alibi_bias").value_or(0);
            config["expansion_ratio"] =
                source.required("feed_forward_length") / std::max<std::int64_t>(source.required("embedding_length"), 1);
            config["attn_config"] = {{"alibi", most > 0}};
            if (most > 0) config["attn_config"]["alibi_bias_max"] = static_cast<std::int64_t>(most);
            if (auto clip = source.number("attention.clamp_kqv")) config["attn_config"]["clip_qkv"] = *clip;
          },
          [](const Json& config, GgufConfigTarget& target) {
            const Json attention = config.value("attn_config", Json::object());
            target.integer("feed_forward_length",
                           config.value("expansion_ratio", std::int64_t{4}) * required_integer(config, "d_model"));
            target.number("attention.max_alibi_bias",
                          attention.value("alibi", true) ? attention.value("alibi_bias_max", 8.0) : 0);
            if (const Json clip = attention.value("clip_qkv", Json()); !clip.is_null())
              target.number("attention.clamp_kqv", clip.get<double>());
            check(attention.value("softmax_scale", Json()).is_null(),
                  "\"attn_config.softmax_scale\" has no place in a GGUF file");
          }};
}

GgufConfigPart t5_feedforward_part() {
  return {{"feed_forward_proj", "dense_act_fn", "is_gated_act"},
          [](const GgufConfigSource& source, Json& config) {
            config["feed_forward_proj"] = source.has_tensor("enc.blk.0.ffn_gate.weight") ? "gated-gelu" : "relu";
          },
          [](const Json& config, GgufConfigTarget&) {
            const std::string form = config.value("feed_forward_proj", "relu");
            check(form == "relu" || form == "gated-gelu",
                  "\"feed_forward_proj\" is \"{}\": a GGUF file of t5 has relu or gated-gelu", form);
          }};
}

}  // namespace attune
