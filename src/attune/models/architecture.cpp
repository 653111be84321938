#include "attune/models/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/models/config_values.h"
#include "attune/models/quantization.h"

namespace attune {

namespace {

std::vector<Architecture>& registered() {
  static std::vector<Architecture> all;
  return all;
}

const Architecture& find_architecture(const ConfigReader& config) {
  std::string type = config.string("model_type");
  std::vector<std::string> known;
  for (const Architecture& a : architectures()) {
    if (a.model_type == type) return a;
    known.push_back(a.model_type);
  }
  const std::string near = nearest_name(type, known);
  config.reject("model_type", fmt::format("this program knows {}{}", fmt::join(known, ", "),
                                          near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near)));
}

HeadKind named_head(const ConfigReader& config, const Architecture& architecture) {
  std::vector<std::string> names = config.strings_or("architectures", {});
  if (names.empty()) return HeadKind::none;
  std::string known;
  for (const auto& [name, kind] : architecture.classes) {
    if (name == names.front()) return kind;
    known += (known.empty() ? "" : ", ") + name;
  }
  config.reject("architectures", fmt::format("of {} models this program knows {}", architecture.model_type, known));
}

/// The last layer of a head, and whether the file's own head is another one under its name.
struct OutputLayer {
  std::string name = "";  // "" for heads without one
  bool of_another = false;
};

OutputLayer output_layer(const ConfigReader& config, const Architecture& architecture, HeadKind head, HeadKind named) {
  if (!architecture.output_layer) return {};
  OutputLayer layer{architecture.output_layer(config, head)};
  layer.of_another = !layer.name.empty() && named != head && architecture.output_layer(config, named) == layer.name;
  return layer;
}

}  // namespace

RegisterArchitecture::RegisterArchitecture(Architecture architecture) {
  registered().push_back(std::move(architecture));
}

const std::vector<Architecture>& architectures() {
  // Registration runs in an order that the linker chooses; users see them by name, from whatever thread they ask.
  static const std::vector<Architecture>& sorted = [&]() -> std::vector<Architecture>& {
    auto& all = registered();
    std::ranges::sort(all, {}, &Architecture::model_type);
    return all;
  }();
  return sorted;
}

std::unique_ptr<Model> build_model(const Json& config, const std::string& source_name, WeightSource source,
                                   std::optional<HeadKind> head, JsonValue* defaults) {
  ConfigReader reader(config, source_name);
  const Architecture& architecture = find_architecture(reader);
  HeadKind named = named_head(reader, architecture);
  reader.ignore(harmless_keys());
  const LinearFormat linears = read_quantization(reader, source.linears);
  if (source.type == DType::F32) source.linears = linears;  // the reference computes with the numbers
  if (const OutputLayer layer = output_layer(reader, architecture, head.value_or(named), named); layer.of_another)
    source.left_out = {layer.name + "."};
  std::unique_ptr<Model> model = architecture.build(reader, head.value_or(named), std::move(source));
  reader.finish();
  model->parameters().finish();
  if (defaults) *defaults = reader.defaults();
  return model;
}

bool has_head(const Json& config, const std::string& source_name, const Checkpoint& file, HeadKind head) {
  const ConfigReader reader(config, source_name);
  const Architecture& architecture = find_architecture(reader);
  const OutputLayer layer = output_layer(reader, architecture, head, named_head(reader, architecture));
  return !layer.name.empty() && !layer.of_another && file.contains(layer.name + ".weight");
}

void set_dropout(Json& config, double rate) {
  for (const Architecture& a : architectures())
    if (config.contains("model_type") && config["model_type"] == a.model_type)
      for (const std::string& key : a.dropout_keys) {
        const std::size_t dot = key.find('.');
        (dot == std::string::npos ? config : config[key.substr(0, dot)])[key.substr(dot + 1)] = rate;
      }
}

bool reads_separator(const std::string& model_type) {
  return std::ranges::any_of(architectures(),
                             [&](const Architecture& a) { return a.model_type == model_type && a.reads_separator; });
}

std::int64_t label_count(const ConfigReader& config) {
  if (config.has("id2label")) {
    const Json& labels = config.raw("id2label");
    if (!labels.is_object() || labels.empty()) config.reject("id2label", "must be an object of labels by number");
    return static_cast<std::int64_t>(labels.size());
  }
  return config.integer_or("num_labels", 2, {.at_least = 1});
}

std::string class_name(const std::string& model_type, HeadKind head) {
  std::string known;
  for (const Architecture& a : architectures()) {
    if (a.model_type != model_type) continue;
    for (const auto& [name, kind] : a.classes) {
      if (kind == head) return name;
      known += (known.empty() ? "" : ", ") + name;
    }
  }
  fail("a {} model has no head for this task; it has {}", model_type, known);
}

}  // namespace attune
