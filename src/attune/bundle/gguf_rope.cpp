// Rotary positions in a GGUF file: theta and most scalings are keys; Llama 3's scaling stands there as one divisor a
// pair of values (tensor rope_freqs), Phi-3's as two lists (rope_factors_short, rope_factors_long).
#include <algorithm>
#include <cmath>
#include <numbers>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/bundle/gguf_config_parts.h"

namespace attune {

namespace {

struct Llama3Scaling {
  double factor, low, high, original;
};

/// llama.cpp's converter computes it so, in single precision from the frequency on.
std::vector<double> llama3_divisors(const Llama3Scaling& s, double theta, std::int64_t dims) {
  std::vector<double> divisors;
  for (std::int64_t i = 0; i < dims; i += 2) {
    const auto frequency = static_cast<double>(
        1.0f / std::pow(static_cast<float>(theta), static_cast<float>(i) / static_cast<float>(dims)));
    const double wave = 2 * std::numbers::pi / frequency;
    const double smooth = (s.original / wave - s.low) / (s.high - s.low);
    divisors.push_back(wave < s.original / s.high  ? 1
                       : wave > s.original / s.low ? s.factor
                                                   : 1 / ((1 - smooth) / s.factor + smooth));
  }
  return divisors;
}

/// The settings of all published Llama 3 models where they give the divisors; else the divisors themselves, in the form
/// that configs have for divisors.
Json scaling_of_divisors(const std::vector<double>& divisors, double theta, std::int64_t longest) {
  const double factor = *std::ranges::max_element(divisors);
  const Llama3Scaling usual{factor, 1, 4, 8192};
  const std::vector<double> expected = llama3_divisors(usual, theta, 2 * static_cast<std::int64_t>(divisors.size()));
  const bool same =
      std::ranges::equal(divisors, expected, [](double a, double b) { return std::abs(a - b) <= 1e-5 * b; });
  if (same && factor > 1)
    return {{"rope_type", "llama3"},
            {"factor", factor},
            {"low_freq_factor", 1.0},
            {"high_freq_factor", 4.0},
            {"original_max_position_embeddings", 8192}};
  return {{"rope_type", "longrope"}, {"factor", 1.0},
          {"attention_factor", 1.0}, {"short_factor", divisors},
          {"long_factor", divisors}, {"original_max_position_embeddings", std::max<std::int64_t>(longest, 1)}};
}

Json read_yarn(const GgufConfigSource& source, double factor) {
  Json scaling = {{"rope_type", "yarn"}, {"factor", factor}};
  scaling["original_max_position_embeddings"] = source.required("rope.scaling.original_context_length");
  if (auto fast = source.number("rope.scaling.yarn_beta_fast")) scaling["beta_fast"] = *fast;
  if (auto slow = source.number("rope.scaling.yarn_beta_slow")) scaling["beta_slow"] = *slow;
  if (auto attention = source.number("rope.scaling.yarn_attn_factor")) scaling["attention_factor"] = *attention;
  const double share = source.number("rope.scaling.yarn_ext_factor").value_or(1);
  check(share == 1, "\"{}\" is {}: only 1 is read", source.key("rope.scaling.yarn_ext_factor"), share);
  return scaling;
}

Json read_long_rope(const GgufConfigSource& source) {
  Json scaling = {{"rope_type", "longrope"},
                  {"short_factor", source.vector("rope_factors_short.weight")},
                  {"long_factor", source.vector("rope_factors_long.weight")}};
  check(!scaling["short_factor"].empty() && !scaling["long_factor"].empty(),
        "it needs both tensors rope_factors_short.weight and rope_factors_long.weight");
  const std::int64_t original = source.required("rope.scaling.original_context_length");
  check(original > 0, "\"{}\" is 0", source.key("rope.scaling.original_context_length"));
  scaling["original_max_position_embeddings"] = original;
  const double longest = static_cast<double>(source.integer("context_length").value_or(original));
  scaling["factor"] = longest / static_cast<double>(original);
  if (auto attention = source.number("rope.scaling.attn_factor")) scaling["attention_factor"] = *attention;
  return scaling;
}

Json read_scaling(const GgufConfigSource& source, double theta) {
  const std::int64_t longest = source.integer("context_length").value_or(0);
  if (const std::vector<double> divisors = source.vector("rope_freqs.weight"); !divisors.empty())
    return scaling_of_divisors(divisors, theta, longest);
  if (source.has_tensor("rope_factors_short.weight") || source.has_tensor("rope_factors_long.weight"))
    return read_long_rope(source);
  const std::string type = source.text("rope.scaling.type").value_or("none");
  // "rope.scale_linear" is the key of the first files.
  const double factor = source.number("rope.scaling.factor").value_or(source.number("rope.scale_linear").value_or(1));
  if (type == "yarn") return read_yarn(source, factor);
  if (type == "linear" || (type == "none" && source.number("rope.scale_linear")))
    return factor == 1 ? Json() : Json{{"rope_type", "linear"}, {"factor", factor}};
  check(type == "none" || type == "longrope", "\"{}\" is \"{}\": none, linear, yarn and longrope are read",
        source.key("rope.scaling.type"), type);
  return {};
}

double number_in(const Json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? otherwise : found->get<double>();
}

double required_in(const Json& object, const char* key) {
  check(object.contains(key) && object[key].is_number(), "the scaling of rotary positions has no number \"{}\"", key);
  return object[key].get<double>();
}

/// Under either of the names that configs have had: the object of scaling, and "rope_theta" within or beside it. Where
/// each kind of layer has an object of its own, that of those that see all.
Json rope_object(const Json& config) {
  for (const char* name : {"rope_parameters", "rope_scaling"})
    if (config.contains(name) && config[name].is_object())
      return config[name].contains("full_attention") ? config[name]["full_attention"] : config[name];
  return Json::object();
}

std::vector<double> divisors_in(const Json& scaling, const char* key) {
  check(scaling.contains(key) && scaling[key].is_array(), "the scaling of rotary positions has no list \"{}\"", key);
  return scaling[key].get<std::vector<double>>();
}

double original_length(const Json& config, const Json& scaling) {
  const double original =
      number_in(scaling, "original_max_position_embeddings",
                number_in(config, "original_max_position_embeddings", number_in(config, "max_position_embeddings", 0)));
  check(original > 1, "the scaling of rotary positions needs \"original_max_position_embeddings\"");
  return original;
}

void write_long_rope(const Json& config, const Json& scaling, GgufConfigTarget& target) {
  const double longest = number_in(config, "max_position_embeddings", 0), original = original_length(config, scaling);
  const double factor = number_in(scaling, "factor", longest / original);
  const double attention =
      number_in(scaling, "attention_factor", factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original)));
  target.text("rope.scaling.type", "longrope");
  target.integer("rope.scaling.original_context_length", static_cast<std::int64_t>(original));
  target.number("rope.scaling.attn_factor", attention);
  target.vector("rope_factors_long.weight", divisors_in(scaling, "long_factor"));
  target.vector("rope_factors_short.weight", divisors_in(scaling, "short_factor"));
}

void write_yarn(const Json& config, const Json& scaling, GgufConfigTarget& target) {
  const double longest = number_in(config, "max_position_embeddings", 0), original = original_length(config, scaling);
  target.text("rope.scaling.type", "yarn");
  target.number("rope.scaling.factor", number_in(scaling, "factor", longest / original));
  target.integer("rope.scaling.original_context_length", static_cast<std::int64_t>(original));
  for (const char* unknown : {"mscale", "mscale_all_dim", "truncate"})
    check(!scaling.contains(unknown) || scaling[unknown] == true,
          "the scaling of rotary positions has \"{}\", for which a GGUF file has no place", unknown);
  target.number("rope.scaling.yarn_beta_fast", number_in(scaling, "beta_fast", 32));
  target.number("rope.scaling.yarn_beta_slow", number_in(scaling, "beta_slow", 1));
  if (scaling.contains("attention_factor") && !scaling["attention_factor"].is_null())
    target.number("rope.scaling.yarn_attn_factor", required_in(scaling, "attention_factor"));
}

void write_rope(const Json& config, GgufConfigTarget& target) {
  const Json scaling = rope_object(config);
  const double theta =
      number_in(scaling, "rope_theta", number_in(config, "rope_theta", number_in(config, "rotary_emb_base", 10000)));
  target.number("rope.freq_base", theta);
  const std::string type = scaling.value("rope_type", scaling.value("type", "default"));
  if (type == "default") return;
  if (type == "yarn") return write_yarn(config, scaling, target);
  if (type == "longrope" || type == "su") return write_long_rope(config, scaling, target);
  if (type == "linear") {
    target.text("rope.scaling.type", "linear");
    return target.number("rope.scaling.factor", required_in(scaling, "factor"));
  }
  check(type == "llama3", "rotary positions scaled by \"{}\" have no form in a GGUF file", type);
  const Llama3Scaling s{required_in(scaling, "factor"), required_in(scaling, "low_freq_factor"),
                        required_in(scaling, "high_freq_factor"),
                        required_in(scaling, "original_max_position_embeddings")};
  const std::int64_t heads = target.metadata.integer(target.key("attention.head_count")).value_or(1);
  const std::int64_t hidden = target.metadata.integer(target.key("embedding_length")).value_or(0);
  target.vector(
      "rope_freqs.weight",
      llama3_divisors(s, theta, target.metadata.integer(target.key("attention.key_length")).value_or(hidden / heads)));
}

}  // namespace

GgufConfigPart rope_part() {
  return {{"rope_theta", "rope_scaling", "rope_parameters", "original_max_position_embeddings"},
          [](const GgufConfigSource& source, Json& config) {
            const double theta = source.number("rope.freq_base").value_or(10000);
            config["rope_theta"] = theta;
            if (Json scaling = read_scaling(source, theta); !scaling.is_null())
              config["rope_scaling"] = std::move(scaling);
          },
          write_rope};
}

GgufConfigPart window_rope_part() {
  const GgufConfigPart beside = number_key("rope_local_base_freq", "rope.freq_base_swa", GgufKeyNeed::optional);
  return {beside.published, beside.read, [beside](const Json& config, GgufConfigTarget& target) {
            const Json both = config.value("rope_parameters", Json());
            if (!both.is_object()) return beside.write(config, target);
            const Json windows = both.value("sliding_attention", Json::object());
            check(windows.value("rope_type", "default") == "default",
                  "\"rope_parameters.sliding_attention\" has a scaling, for which a GGUF file of {} has no place",
                  target.architecture);
            target.number("rope.freq_base_swa", number_in(windows, "rope_theta", 10000));
          }};
}

}  // namespace attune
