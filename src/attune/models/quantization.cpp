#include "attune/models/quantization.h"

#include "attune/base/json_values.h"

namespace attune {

namespace {

constexpr const char* key = "quantization_config";

/// What one part of a group says of its numbers.
void check_numbers(const ConfigReader& numbers, const std::string& strategy, bool dynamic) {
  if (numbers.integer("num_bits") != 8) numbers.reject("num_bits", "this program reads 8");
  numbers.choice("type", {"int"});
  numbers.choice("strategy", {strategy});
  if (!numbers.flag("symmetric")) numbers.reject("symmetric", "this program reads codes without a zero point");
  if (numbers.flag_or("dynamic", false) != dynamic)
    numbers.reject("dynamic", dynamic ? "this program rounds inputs as they come" : "weights are rounded beforehand");
  for (const char* absent : {"group_size", "block_structure", "actorder"})
    if (numbers.has(absent)) numbers.reject(absent, "this program reads weights with one scale for each output");
  // How scales were found, and of which type they are: the file shows it.
  numbers.ignore(
      {"group_size", "block_structure", "actorder", "observer", "observer_kwargs", "scale_dtype", "zp_dtype"});
}

}  // namespace

LinearFormat read_quantization(const ConfigReader& config, LinearFormat otherwise) {
  if (!config.has(key)) return otherwise;
  const ConfigReader q = config.object_or_empty(key);
  q.choice("quant_method", {"compressed-tensors"});
  q.choice("format", {"int-quantized"});
  q.choice_or("quantization_status", "compressed", {"compressed"});
  if (q.has("kv_cache_scheme"))
    q.reject("kv_cache_scheme", "a cache that is rounded is asked for when text is written");
  const ConfigReader groups = q.object_or_empty("config_groups");
  const Json& names = q.raw("config_groups");
  if (!names.is_object() || names.empty()) q.reject("config_groups", "an object of groups is expected");
  for (const auto& [name, ignored] : names.items()) {
    const ConfigReader group = groups.object_or_empty(name);
    check_numbers(group.object_or_empty("weights"), "channel", false);
    check_numbers(group.object_or_empty("input_activations"), "token", true);
    if (group.has("output_activations")) group.reject("output_activations", "this program does not round outputs");
    group.choice_or("format", "int-quantized", {"int-quantized"});
    group.ignore({"targets", "output_activations"});  // the file shows which weights are in int8
  }
  q.ignore({"ignore", "kv_cache_scheme", "global_compression_ratio", "version", "sparsity_config", "transform_config",
            "moe_sparsity_config"});
  return q.choice_or("tied_output", "as_stored", {"as_stored", "int8"}) == "int8" ? LinearFormat::int8 : otherwise;
}

Json int8_quantization(const std::vector<std::string>& ignored) {
  const Json numbers = {{"num_bits", 8}, {"type", "int"}, {"symmetric", true}};
  Json weights = numbers, inputs = numbers;
  weights["strategy"] = "channel";
  weights["dynamic"] = false;
  inputs["strategy"] = "token";
  inputs["dynamic"] = true;
  return {
      {"quant_method", "compressed-tensors"},
      {"format", "int-quantized"},
      {"quantization_status", "compressed"},
      {"config_groups", {{"group_0", {{"targets", {"Linear"}}, {"weights", weights}, {"input_activations", inputs}}}}},
      {"ignore", ignored},
      {"tied_output", "int8"}};
}

}  // namespace attune
