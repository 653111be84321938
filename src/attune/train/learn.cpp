#include "attune/train/learn.h"

#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/base/threads.h"
#include "attune/text/tokenizer_trainer.h"
#include "attune/train/run_report.h"
#include "attune/train/task_data.h"

namespace attune {

namespace {

HeadKind head_of(TrainTask task) {
  switch (task) {
    case TrainTask::classify:
      return HeadKind::classify;
    case TrainTask::mlm:
      return HeadKind::masked_lm;
    case TrainTask::lm:
      return HeadKind::causal_lm;
    case TrainTask::translate:
      return HeadKind::sequence_to_sequence;
    case TrainTask::tag:
      return HeadKind::tag;
    case TrainTask::answer:
      return HeadKind::answer;
  }
  return HeadKind::none;
}

TokenizerTraining tokenizer_training(const RunConfig& config) {
  TokenizerTraining t;
  t.kind = tokenizer_kind(config.tokenizer.type);
  t.vocab_size = config.tokenizer.vocab_size;
  t.lower_case = config.tokenizer.lowercase;
  if (config.task != TrainTask::lm && config.task != TrainTask::translate) {
    t.special_tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    t.start_token = "[CLS]";
    t.end_token = "[SEP]";
  } else if (config.task == TrainTask::lm) {
    t.special_tokens = {"<|endoftext|>", "[UNK]"};
  } else {
    t.special_tokens = {"<pad>", "</s>", "[UNK]"};
    t.end_token = "</s>";
  }
  return t;
}

/// Opened from tokenizer.from, or trained now: the same texts always give the same one, after an interruption too.
std::optional<Tokenizer> make_tokenizer(const RunConfig& config, const RunFiles& files, const Run& run) {
  if (!config.tokenizer.from.empty()) return open_tokenizer(config.tokenizer.from);
  if (!config.model.from.empty()) return std::nullopt;  // the model brings its own
  if (files.in_ids) return std::nullopt;
  std::vector<std::string_view> texts = training_texts(files, config);
  std::size_t next = 0;
  return train_tokenizer(
      tokenizer_training(config),
      [&](std::string& text) {
        if (next == texts.size()) return false;
        text = texts[next++];
        return true;
      },
      run);
}

/// config.json of a new model: the run file's values, and what follows from tokenizer, labels and task.
Json new_config(const RunConfig& config, const RunFiles& files, const std::optional<Tokenizer>& tokenizer) {
  Json json = *config.model.config;
  json["architectures"] = {class_name(json["model_type"], head_of(config.task))};
  if (tokenizer) {
    check(!json.contains("vocab_size") || json["vocab_size"].get<std::int64_t>() >= tokenizer->limit(),
          "model.vocab_size is {}: the tokenizer has {} tokens", json.value("vocab_size", std::int64_t{0}),
          tokenizer->limit());
    if (!json.contains("vocab_size")) json["vocab_size"] = tokenizer->limit();
    auto set = [&](const char* key, const char* token) {
      if (auto id = tokenizer->id_of(token); id && !json.contains(key)) json[key] = *id;
    };
    if (config.task == TrainTask::lm) {
      set("bos_token_id", "<|endoftext|>");
      set("eos_token_id", "<|endoftext|>");
    } else if (config.task == TrainTask::translate) {
      set("pad_token_id", "<pad>");
      set("decoder_start_token_id", "<pad>");
      set("eos_token_id", "</s>");
    } else {
      set("pad_token_id", "[PAD]");
      if (reads_separator(json["model_type"])) set("sep_token_id", "[SEP]");
    }
  }
  for (std::size_t i = 0; i < files.labels.size(); ++i) json["id2label"][std::to_string(i)] = files.labels[i];
  if (config.dropout) set_dropout(json, *config.dropout);
  return json;
}

Bundle new_bundle(const RunConfig& config, const RunFiles& files, const Path& output, const Run& run) {
  Bundle bundle;
  bundle.path = output;
  bundle.tokenizer = make_tokenizer(config, files, run);
  Json json = new_config(config, files, bundle.tokenizer);
  bundle.config = json;
  WeightSource source{
      .checkpoint = nullptr, .initial = RandomKey{.seed = config.seed}.at("weights"), .trainable = true};
  bundle.model = build_model(json, "the run file's [model]", std::move(source));
  return bundle;
}

Bundle opened_bundle(const RunConfig& config, const RunFiles& files) {
  LoadOptions options{.trainable = true,
                      .head = head_of(config.task),
                      .seed = config.seed,
                      .type = DType::F32,
                      .dropout = config.dropout,
                      .labels = files.labels};
  Bundle bundle = load_bundle(config.model.from, options);
  if (!config.tokenizer.from.empty()) {
    bundle.tokenizer = open_tokenizer(config.tokenizer.from);
    bundle.chat = {};  // and what else is said of the other tokens
    bundle.companions.clear();
  }
  for (const std::string& name : bundle.model->parameters().fresh())
    log_info("new weight, not in " + config.model.from + ": " + name);
  return bundle;
}

/// All that the run's bits depend on; not the order in which keys were given, which config.toml does not keep.
std::string fingerprint_of(const RunConfig& config, const RunFiles& files) {
  std::string text = nlohmann::json(config.resolved()).dump();
  for (const DataSource& source : files.lineage) text += source.sha256;
  if (!config.model.from.empty()) text += sha256_of_file(Checkpoint::open(config.model.from).files().front());
  return sha256(text);
}

Contract contract_of(const RunConfig& config, const RunFiles& files, const Bundle& bundle) {
  Contract contract;
  contract.task = name_of(config.task);
  if (config.task == TrainTask::classify) contract.labels = labels_of(*bundle.config, "the model's config");
  contract.long_policy = config.long_policy;
  std::int64_t model_longest = bundle.model->facts().longest.value_or(0);
  if (contract.long_policy.longest == 0) contract.long_policy.longest = model_longest;
  contract.data = files.lineage;
  return contract;
}

void check_new_run(const Path& output, bool resume) {
  bool begun = std::filesystem::exists(output / "metrics.jsonl") || std::filesystem::exists(output / "config.toml");
  check(resume || !begun, "{} holds a run already: add --resume to go on with it, or choose another --output",
        output.string());
}

/// What an error calls the examples of texts: by the lines of the file, and ids where it has any.
std::function<std::string(std::int64_t)> names_of(const RunConfig& config, const RunFiles& files,
                                                  const TaskData& data) {
  if (data.origins.empty()) return {};
  std::string prefix = config.task == TrainTask::lm ? "a block from line " : "line ";
  return [&files, &data, prefix](std::int64_t example) {
    std::int64_t origin = data.origins.at(static_cast<std::size_t>(example));
    const Document& document = files.train.items[static_cast<std::size_t>(origin)];
    std::string line = std::to_string(document.line);
    return prefix + line + (document.id == line ? "" : " (" + document.id + ")");
  };
}

}  // namespace

TrainingResult learn(const RunConfig& asked, const Path& output, bool resume, const Run& run) {
  check_new_run(output, resume);
  RunConfig config = asked;
  RunFiles files = read_run_files(config);
  config.settle_metric(files.in_ids);
  std::string fingerprint = fingerprint_of(config, files);
  Bundle bundle = config.model.from.empty() ? new_bundle(config, files, output, run) : opened_bundle(config, files);
  bundle.contract = contract_of(config, files, bundle);
  TaskData data = make_task_data(files, config, bundle, run);
  make_directories(output);  // not before: what is wrong with the data leaves nothing behind
  if (!std::filesystem::exists(output / "config.toml"))
    write_file_atomically(output / "config.toml", to_toml(config.resolved()));
  bool trained_tokenizer = bundle.tokenizer && config.tokenizer.from.empty() && config.model.from.empty();
  if (trained_tokenizer) bundle.tokenizer->save(output / "tokenizer.json");
  TrainOptions options = config.train;
  options.class_weights = data.class_weights;
  TrainingJob job{.model = *bundle.model,
                  .data = *data.train,
                  .evaluate = {},
                  .save_model = [&](const Path& directory) { save_bundle(bundle, directory); },
                  .options = options,
                  .directory = output,
                  .fingerprint = fingerprint,
                  .resume = resume,
                  .name_of_example = names_of(config, files, data)};
  if (data.validation)
    job.evaluate = [&](const Model& model, const Run& during) { return measure(model, data, during); };
  TrainingResult result = train(job, run);
  write_file_atomically(output / "report.html", run_report(config, bundle.contract, result));
  return result;
}

}  // namespace attune
