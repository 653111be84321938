#include "attune/bundle/gguf_config_parts.h"

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/ops/activation.h"

namespace attune {

namespace {

bool given(const Json& config, const std::string& key) { return config.contains(key) && !config[key].is_null(); }

[[noreturn]] void missing(const std::string& key) {
  fail("the config has no \"{}\", and a GGUF file must say it: write it into config.json", key);
}

/// Whether two values say the same; some activations have several names.
bool same(const Json& a, const Json& b) {
  if (a == b || !a.is_string() || !b.is_string()) return a == b;
  try {
    return parse_activation(a.get<std::string>()) == parse_activation(b.get<std::string>());
  } catch (const Error&) {
    return false;  // they name something else
  }
}

}  // namespace

GgufConfigSource::GgufConfigSource(const GgufFile& file, std::string architecture)
    : file_(&file), architecture_(std::move(architecture)) {}

std::int64_t GgufConfigSource::required(const std::string& name) const {
  const std::optional<std::int64_t> value = integer(name);
  check(value.has_value(), "its metadata have no \"{}\"", key(name));
  return *value;
}

std::vector<double> GgufConfigSource::vector(const std::string& name) const {
  if (!has_tensor(name)) return {};
  const Tensor values = file_->tensor(name).to(DType::F64);
  return values.to_vector<double>();
}

std::int64_t GgufConfigSource::head_dim() const {
  if (std::optional<std::int64_t> length = integer("attention.key_length")) return *length;
  const std::int64_t heads = required("attention.head_count");
  check(heads > 0, "\"{}\" is {}: expected at least 1", key("attention.head_count"), heads);
  return required("embedding_length") / heads;
}

void GgufConfigTarget::integer(const std::string& name, std::int64_t value) {
  check(value >= 0 && value <= 0xFFFFFFFF, "\"{}\" would be {}: a GGUF file has numbers from 0 to 4294967295 there",
        key(name), value);
  metadata.set(key(name), GgufValue::u32(static_cast<std::uint32_t>(value)));
}

void GgufConfigTarget::number(const std::string& name, double value) {
  metadata.set(key(name), GgufValue::f32(static_cast<float>(value)));
}

void GgufConfigTarget::vector(const std::string& name, const std::vector<double>& values) {
  std::vector<float> floats(values.begin(), values.end());
  const Shape shape{static_cast<std::int64_t>(floats.size())};
  const Tensor tensor = Tensor::from<float>(shape, floats);
  tensors.push_back({name, DType::F32, shape, [tensor]() -> GgufValues { return tensor; }});
}

std::int64_t required_integer(const Json& config, const std::string& key) {
  if (!given(config, key)) missing(key);
  check(config[key].is_number_integer(), "\"{}\" is not a whole number", key);
  return config[key].get<std::int64_t>();
}

GgufConfigPart integer_key(const std::string& published, const std::string& file, GgufKeyNeed need) {
  return {{published},
          [=](const GgufConfigSource& source, Json& config) {
            if (need == GgufKeyNeed::required)
              config[published] = source.required(file);
            else if (auto value = source.integer(file))
              config[published] = *value;
          },
          [=](const Json& config, GgufConfigTarget& target) {
            if (given(config, published)) {
              check(config[published].is_number_integer(), "\"{}\" is not a whole number", published);
              target.integer(file, config[published].get<std::int64_t>());
            } else if (need == GgufKeyNeed::required) {
              missing(published);
            }
          }};
}

GgufConfigPart either_key(const std::string& published, const std::string& other, const std::string& file) {
  const GgufConfigPart first = integer_key(published, file), second = integer_key(other, file);
  return {{published, other}, first.read, [=](const Json& config, GgufConfigTarget& target) {
            (given(config, other) ? second : first).write(config, target);
          }};
}

GgufConfigPart number_key(const std::string& published, const std::string& file, GgufKeyNeed need) {
  return {{published},
          [=](const GgufConfigSource& source, Json& config) {
            const std::optional<double> value = source.number(file);
            check(value || need == GgufKeyNeed::optional, "its metadata have no \"{}\"", source.key(file));
            if (value) config[published] = *value;
          },
          [=](const Json& config, GgufConfigTarget& target) {
            if (given(config, published)) {
              check(config[published].is_number(), "\"{}\" is not a number", published);
              target.number(file, config[published].get<double>());
            } else if (need == GgufKeyNeed::required) {
              missing(published);
            }
          }};
}

GgufConfigPart flag_key(const std::string& published, const std::string& file) {
  return {{published},
          [=](const GgufConfigSource& source, Json& config) {
            if (auto value = source.flag(file)) config[published] = *value;
          },
          [=](const Json& config, GgufConfigTarget& target) {
            if (given(config, published)) target.flag(file, config[published].get<bool>());
          }};
}

GgufConfigPart tensor_key(const std::string& published, const std::string& tensor) {
  return {{published},
          [=](const GgufConfigSource& source, Json& config) { config[published] = source.has_tensor(tensor); },
          [](const Json&, GgufConfigTarget&) {}};
}

GgufConfigPart fixed_key(const std::string& published, const Json& value) {
  return {{published},
          [=](const GgufConfigSource&, Json& config) { config[published] = value; },
          [=](const Json& config, GgufConfigTarget& target) {
            const Json own = given(config, published) ? config[published] : value;
            check(same(own, value), "\"{}\" is {}: a GGUF file of {} has no place for it, all have {}", published,
                  own.dump(), target.architecture, value.dump());
          }};
}

GgufConfigPart tied_part() {
  return {{"tie_word_embeddings"},
          [](const GgufConfigSource& source, Json& config) {
            config["tie_word_embeddings"] = !source.has_tensor("output.weight");
          },
          [](const Json&, GgufConfigTarget&) {}};
}

GgufConfigPart rotary_share_part(const std::string& published) {
  return {
      {published},
      [=](const GgufConfigSource& source, Json& config) {
        const std::int64_t width = source.head_dim(), turned = source.integer("rope.dimension_count").value_or(width);
        check(width > 0 && turned > 0 && turned <= width, "\"{}\" is {}, and a head has {} values",
              source.key("rope.dimension_count"), turned, width);
        config[published] = static_cast<double>(turned) / static_cast<double>(width);
      },
      [=](const Json& config, GgufConfigTarget& target) {
        const Json& rope = given(config, "rope_parameters") ? config["rope_parameters"] : config;
        const double share = rope.value(published, config.value(published, 1.0));
        const std::int64_t heads = target.metadata.integer(target.key("attention.head_count")).value_or(1);
        const std::int64_t hidden = target.metadata.integer(target.key("embedding_length")).value_or(0);
        const std::int64_t width = target.metadata.integer(target.key("attention.key_length")).value_or(hidden / heads);
        target.integer("rope.dimension_count", static_cast<std::int64_t>(share * static_cast<double>(width)));
      }};
}

GgufConfigPart window_pattern_part(std::int64_t every) {
  return {{"sliding_window", "layer_types", "sliding_window_pattern", "_sliding_window_pattern"},
          [=](const GgufConfigSource& source, Json& config) {
            const std::optional<std::int64_t> window = source.integer("attention.sliding_window");
            const std::int64_t layers = source.required("block_count");
            check(layers <= 4096, "\"{}\" is {}: at most 4096 are read", source.key("block_count"), layers);
            if (window) config["sliding_window"] = *window;
            config["layer_types"] = Json::array();
            for (std::int64_t i = 0; i < layers; ++i)
              config["layer_types"].push_back(window && (i + 1) % every != 0 ? "sliding_attention" : "full_attention");
          },
          [=](const Json& config, GgufConfigTarget& target) {
            if (given(config, "sliding_window"))
              target.integer("attention.sliding_window", config["sliding_window"].get<std::int64_t>());
            for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"}) {
              const std::int64_t pattern = config.value(key, every);
              check(pattern == every, "\"{}\" is {}: in a GGUF file of {} every {}th layer sees all", key, pattern,
                    target.architecture, every);
            }
            if (!given(config, "layer_types")) return;
            for (std::size_t i = 0; i < config["layer_types"].size(); ++i)
              check(config["layer_types"][i] ==
                        ((static_cast<std::int64_t>(i) + 1) % every != 0 ? "sliding_attention" : "full_attention"),
                    "\"layer_types\" has {} for layer {}: in a GGUF file of {} every {}th layer sees all, the others a "
                    "window",
                    config["layer_types"][i].dump(), i, target.architecture, every);
          }};
}

}  // namespace attune
