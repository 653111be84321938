#include "attune/models/config_values.h"

#include <fmt/core.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"

namespace attune {

Activation read_activation(const ConfigReader& config, const std::string& key, const std::string& otherwise) {
  std::string name = config.string_or(key, otherwise);
  try {
    return parse_activation(name);
  } catch (const Error& error) {
    config.reject(key, error.what());
  }
}

std::vector<std::int64_t> read_token_ids(const ConfigReader& config, const std::string& key,
                                         std::vector<std::int64_t> otherwise) {
  const Json& value = config.raw(key);
  if (value.is_null()) return otherwise;
  std::vector<std::int64_t> ids;
  for (const Json& id : value.is_array() ? value : Json::array({value})) {
    if (!id.is_number_integer()) config.reject(key, "expected a token id or a list of them");
    if (id.get<std::int64_t>() >= 0) ids.push_back(id.get<std::int64_t>());
  }
  return ids;
}

std::optional<std::int64_t> read_token_id(const ConfigReader& config, const std::string& key,
                                          std::optional<std::int64_t> otherwise, std::int64_t vocab_size) {
  if (config.has(key)) return config.integer(key, {.at_least = 0, .at_most = static_cast<double>(vocab_size - 1)});
  config.ignore({key});
  if (otherwise && *otherwise >= vocab_size)
    config.reject(key, fmt::format("it is {} where a config does not say, and vocab_size is {}: give one below that",
                                   *otherwise, vocab_size));
  return otherwise;
}

void check_alias(const ConfigReader& config, const std::string& alias, const std::string& key, std::int64_t value) {
  if (config.integer_or(alias, value) != value)
    config.reject(alias, fmt::format("another name of {}, which is {}", key, value));
}

const std::vector<std::string>& harmless_keys() {
  static const std::vector<std::string> keys = {"transformers_version",
                                                "torch_dtype",
                                                "dtype",
                                                "_name_or_path",
                                                "use_cache",
                                                "return_dict",
                                                "output_attentions",
                                                "output_hidden_states",
                                                "id2label",
                                                "label2id",
                                                "num_labels",
                                                "problem_type",
                                                "attn_implementation",
                                                "_attn_implementation",
                                                "gradient_checkpointing",
                                                "task_specific_params",
                                                "pruned_heads",
                                                "auto_map",
                                                "tokenizer_class",
                                                "finetuning_task",
                                                "_num_labels",
                                                "torchscript",
                                                "sbert_ce_default_activation_function",
                                                "sentence_transformers"};
  return keys;
}

}  // namespace attune
