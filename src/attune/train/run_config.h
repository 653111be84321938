#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attune/base/json.h"
#include "attune/bundle/contract.h"
#include "attune/train/trainer.h"

namespace attune {

enum class TrainTask { classify, mlm, lm, translate, tag, answer };
std::string name_of(TrainTask task);

/// A run file: every key of run.toml, with its default where the file leaves it out. docs/train.md lists them.
struct RunConfig {
  TrainTask task = TrainTask::classify;
  std::uint64_t seed = 0;

  struct Data {
    std::string train, validation;    // files, or `train` one directory that `split` made
    std::string text_field = "text";  // of answer "context"
    std::string label_field = "label", target_field = "target";
    std::string entities_field = "entities";                             // tag
    std::string question_field = "question", answers_field = "answers";  // answer
  } data;

  struct ModelChoice {
    std::string from;  // a model directory; else `config` describes a new one
    JsonValue config;  // architecture as model_type, and its sizes in config.json's names
  } model;

  struct TokenizerChoice {
    std::string from;                // a tokenizer.json or a directory; else one is trained on data.train
    std::string type = "wordpiece";  // "bpe" for lm and translate
    std::int64_t vocab_size = 8000;
    bool lowercase = false;
  } tokenizer;

  LongPolicy long_policy = {LongPolicy::Kind::chunk, 0};  // longest 0: what the model can take
  double mask_probability = 0.15;                         // mlm
  double token_dropout = 0;  // classify: share of tokens that training reads as the mask token
  /// classify: how much a class counts, in place of train.class_weights. `balanced`: as scikit-learn has it, examples /
  /// (classes * examples of the class); `sqrt_balanced`: the square root of that.
  enum class ClassBalance { none, sqrt_balanced, balanced } class_balance = ClassBalance::none;
  std::optional<double> dropout;  // replaces every rate in config.json
  TrainOptions train;

  /// Throws Error naming the key and, for an unknown one, the nearest. `source` names the file in errors.
  static RunConfig read(const Json& run, const std::string& source);
  /// The metric of a run that names none, of tag and answer: f1 of texts, loss of lines of ids, of which none else is
  /// known.
  void settle_metric(bool data_in_ids);
  /// Everything, defaults included, as read() takes it: config.toml of the run directory.
  Json resolved() const;
};

/// Sets "train.learning_rate=1e-4" in a run file's value; the right side is a TOML value, or text where it is none.
void apply_setting(Json& run, const std::string& setting);

/// A run file's value as TOML text.
std::string to_toml(const Json& run);

}  // namespace attune
