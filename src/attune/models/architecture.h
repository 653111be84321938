#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attune/base/config_reader.h"
#include "attune/models/model.h"

namespace attune {

/// What an architecture's file registers: how to build its models from a config in the published form.
struct Architecture {
  std::string model_type;  // config.json's: "bert"
  /// config.json's `architectures`: {"BertForMaskedLM", HeadKind::masked_lm}.
  std::vector<std::pair<std::string, HeadKind>> classes = {};
  /// Whether its models go by config.json's sep_token_id.
  bool reads_separator = false;
  /// Of its config: what a run's `dropout` replaces; "object.key" within one.
  std::vector<std::string> dropout_keys = {};
  std::function<std::unique_ptr<Model>(const ConfigReader&, HeadKind, WeightSource)> build = {};
  /// The name of the last layer of a head on the model's states (classify, tag, answer), by which a file shows that it
  /// has that head; "" for others and for heads that the architecture lacks.
  std::function<std::string(const ConfigReader&, HeadKind)> output_layer = {};
};

/// Adds an architecture to the program's; a file-level constant in the architecture's own file.
struct RegisterArchitecture {
  explicit RegisterArchitecture(Architecture architecture);
};

const std::vector<Architecture>& architectures();

/// Builds the model that `config` (config.json's object, or a run file's [model] with `architecture` as model_type)
/// describes. The head is the one that `architectures` names, or `head` where that is given. Every weight of the
/// checkpoint is accounted for, every key of the config read: else one Error. `source_name` names the config in errors.
/// `defaults`: receives what the architecture takes for the keys that the config does not have (ConfigReader).
std::unique_ptr<Model> build_model(const Json& config, const std::string& source_name, WeightSource source,
                                   std::optional<HeadKind> head = {}, JsonValue* defaults = nullptr);

/// Whether a file has that head (classify, tag or answer) to go on with. One that its config names for another task
/// under the same name is not it: build_model then begins afresh.
bool has_head(const Json& config, const std::string& source_name, const Checkpoint& file, HeadKind head);

/// Sets every dropout rate of a config.json's object.
void set_dropout(Json& config, double rate);

/// Number of classes that a config's `id2label` or `num_labels` names; 2, as in transformers, where neither is there.
std::int64_t label_count(const ConfigReader& config);

/// Of the architecture of that name; false where there is none.
bool reads_separator(const std::string& model_type);

/// "BertForMaskedLM" for ("bert", masked_lm); throws Error, listing what there is, where the architecture has no such
/// head.
std::string class_name(const std::string& model_type, HeadKind head);

}  // namespace attune
