#include "attune/train/run_config.h"

#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/base/config_reader.h"
#include "attune/base/error.h"
#include "attune/models/architecture.h"
#include "attune/train/step_plan.h"

namespace attune {

namespace {

constexpr ConfigReader::Range positive{.above = 0}, unit{.at_least = 0, .at_most = 1}, share{.at_least = 0, .below = 1},
    at_least_0{.at_least = 0}, at_least_1{.at_least = 1}, up_to_a_million{.at_least = 1, .at_most = 1e6};

TrainTask parse_task(const std::string& name) {
  if (name == "classify") return TrainTask::classify;
  if (name == "mlm") return TrainTask::mlm;
  if (name == "tag") return TrainTask::tag;
  if (name == "answer") return TrainTask::answer;
  return name == "lm" ? TrainTask::lm : TrainTask::translate;
}

std::string name_of(Schedule::Shape shape) {
  switch (shape) {
    case Schedule::Shape::constant:
      return "constant";
    case Schedule::Shape::linear:
      return "linear";
    case Schedule::Shape::cosine:
      return "cosine";
    case Schedule::Shape::inverse_sqrt:
      return "inverse_sqrt";
  }
  return "linear";
}

/// Keys that one task alone has: given for another they would do nothing.
bool belongs(const ConfigReader& c, const char* key, TrainTask task, TrainTask its) {
  if (c.has(key) && task != its) c.reject(key, "it belongs to the task " + name_of(its));
  return c.has(key);
}

RunConfig::Data read_data(const ConfigReader& c, TrainTask task) {
  RunConfig::Data d;
  if (task == TrainTask::answer) d.text_field = "context";  // as the published data sets have it
  d.train = c.string("train");
  d.validation = c.string_or("validation", "");
  d.text_field = c.string_or("text_field", d.text_field);
  d.label_field = c.string_or("label_field", d.label_field);
  d.target_field = c.string_or("target_field", d.target_field);
  if (belongs(c, "entities_field", task, TrainTask::tag)) d.entities_field = c.string("entities_field");
  if (belongs(c, "question_field", task, TrainTask::answer)) d.question_field = c.string("question_field");
  if (belongs(c, "answers_field", task, TrainTask::answer)) d.answers_field = c.string("answers_field");
  return d;
}

/// The table as config.json's object: `architecture` is its model_type; the architecture itself judges the other keys.
RunConfig::ModelChoice read_model(const ConfigReader& run) {
  RunConfig::ModelChoice m;
  Json table = run.has("model") ? run.raw("model") : Json::object();
  if (!table.is_object()) run.reject("model", "must be a table");
  if (table.contains("from")) {
    if (!table["from"].is_string() || table.size() > 1)
      run.reject("model", "\"from\" names a model directory, whose config.json gives everything else");
    m.from = table["from"];
    return m;
  }
  if (!table.contains("architecture") || !table["architecture"].is_string())
    run.reject("model",
               "needs \"from\" (a model directory) or \"architecture\" (a new model: bert, llama, marian, ...)");
  std::vector<std::string> known;
  for (const Architecture& one : architectures()) known.push_back(one.model_type);
  const Json named = {{"model", {{"architecture", table["architecture"]}}}};
  ConfigReader(named, run.source()).object_or_empty("model").choice("architecture", known);
  Json config = {{"model_type", table["architecture"]}};
  for (const auto& [key, value] : table.items())
    if (key != "architecture") config[key] = value;
  m.config = config;
  return m;
}

RunConfig::TokenizerChoice read_tokenizer(const ConfigReader& c, TrainTask task) {
  RunConfig::TokenizerChoice t;
  // What a model writes must become the same text again: only byte-level tokens keep spaces as they are.
  if (task == TrainTask::lm || task == TrainTask::translate) t.type = "bpe";
  t.from = c.string_or("from", "");
  // A unigram token holds the space in front of its word: what is found with it would begin there.
  const bool places = task == TrainTask::tag || task == TrainTask::answer;
  t.type = c.choice_or(
      "type", t.type,
      places ? std::vector<std::string>{"bpe", "wordpiece"} : std::vector<std::string>{"bpe", "wordpiece", "unigram"});
  t.vocab_size = c.integer_or("vocab_size", t.vocab_size, {.at_least = 300});
  t.lowercase = c.flag_or("lowercase", t.lowercase);
  return t;
}

void read_batches(const ConfigReader& c, TrainOptions& t) {
  t.batches.batch_size = c.integer_or("batch_size", 0, up_to_a_million);
  t.batches.batch_tokens = c.integer_or("batch_tokens", t.batches.batch_size > 0 ? 0 : 8192, at_least_1);
  t.batches.order = c.choice_or("order", "shuffled", {"shuffled", "sequential"}) == "shuffled" ? BatchOrder::shuffled
                                                                                               : BatchOrder::sequential;
  t.accumulation = c.integer_or("accumulation", t.accumulation, up_to_a_million);
}

TrainOptions read_train(const ConfigReader& c) {
  TrainOptions t;
  if (c.has("max_steps")) t.max_steps = c.integer("max_steps", {.at_least = 1, .at_most = StepPlan::most_steps});
  if (!t.max_steps)
    t.epochs = c.number_or("epochs", 3, {.at_most = StepPlan::most_epochs, .above = 0});
  else if (c.has("epochs"))
    c.reject("max_steps", "it excludes epochs: give one of them");
  read_batches(c, t);
  t.learning_rate = c.number_or("learning_rate", t.learning_rate, positive);
  t.schedule = Schedule::parse(c.choice_or("schedule", "linear", {"constant", "linear", "cosine", "inverse_sqrt"}));
  if (c.has("warmup_steps")) t.warmup_steps = c.integer("warmup_steps", at_least_0);
  t.adamw.weight_decay = c.number_or("weight_decay", 0.01, at_least_0);
  std::vector<double> betas = c.numbers_or("betas", {0.9, 0.999});
  if (betas.size() != 2 || betas[0] < 0 || betas[0] >= 1 || betas[1] < 0 || betas[1] >= 1)
    c.reject("betas", "must be two numbers in [0, 1)");
  t.adamw.beta1 = betas[0];
  t.adamw.beta2 = betas[1];
  t.adamw.epsilon = c.number_or("epsilon", t.adamw.epsilon, positive);
  t.clip_norm = c.number_or("clip_norm", t.clip_norm, at_least_0);
  t.label_smoothing = c.number_or("label_smoothing", 0, unit);
  t.ema_decay = c.number_or("ema_decay", 0, share);
  t.evaluate_every = c.integer_or("evaluate_every", 0, at_least_0);
  t.checkpoint_every = c.integer_or("checkpoint_every", 0, at_least_0);
  t.gradient_checkpointing = c.flag_or("gradient_checkpointing", false);
  ConfigReader early = c.object_or_empty("early_stopping");
  t.early_stopping.metric = early.string_or("metric", "");
  t.early_stopping.patience = early.integer_or("patience", 0, at_least_0);
  return t;
}

void read_task_keys(const ConfigReader& c, RunConfig& r) {
  if (belongs(c, "mask_probability", r.task, TrainTask::mlm)) r.mask_probability = c.number("mask_probability", unit);
  if (belongs(c, "token_dropout", r.task, TrainTask::classify)) r.token_dropout = c.number("token_dropout", share);
  if (!belongs(c, "class_weights", r.task, TrainTask::classify)) return;
  if (c.raw("class_weights").is_string())
    r.class_balance = c.choice("class_weights", {"balanced", "sqrt_balanced"}) == "balanced"
                          ? RunConfig::ClassBalance::balanced
                          : RunConfig::ClassBalance::sqrt_balanced;
  else
    r.train.class_weights = c.numbers_or("class_weights", {});
  for (double weight : r.train.class_weights)
    if (weight <= 0) c.reject("class_weights", "every number must be above 0");
}

/// A default that a reader must be able to see: the metric that the best weights are chosen by. Of taggers and of those
/// who answer it depends on the data: settle_metric().
std::string default_metric(TrainTask task) {
  if (task == TrainTask::tag || task == TrainTask::answer) return "";
  return task == TrainTask::classify ? "macro_f1" : "loss";
}

LongPolicy read_long(const ConfigReader& c, TrainTask task) {
  std::vector<std::string> policies = {"chunk", "refuse"};  // the default first
  if (task == TrainTask::translate) policies = {"refuse"};  // of the whole text: its pieces have no targets
  if (task == TrainTask::answer) policies = {"stride", "chunk", "refuse"};
  LongPolicy policy;
  policy.kind = LongPolicy::parse(c.choice_or("policy", policies.front(), policies));
  policy.longest = c.integer_or("longest", 0, at_least_0);
  return policy;
}

}  // namespace

std::string name_of(TrainTask task) {
  switch (task) {
    case TrainTask::classify:
      return "classify";
    case TrainTask::mlm:
      return "mlm";
    case TrainTask::lm:
      return "lm";
    case TrainTask::translate:
      return "translate";
    case TrainTask::tag:
      return "tag";
    case TrainTask::answer:
      return "answer";
  }
  return "classify";
}

RunConfig RunConfig::read(const Json& run, const std::string& source) {
  ConfigReader c(run, source);
  RunConfig r;
  r.task = parse_task(c.choice("task", {"classify", "mlm", "lm", "translate", "tag", "answer"}));
  r.seed = static_cast<std::uint64_t>(c.integer_or("seed", 0, at_least_0));
  r.data = read_data(c.object_or_empty("data"), r.task);
  r.model = read_model(c);
  r.tokenizer = read_tokenizer(c.object_or_empty("tokenizer"), r.task);
  r.long_policy = read_long(c.object_or_empty("long"), r.task);
  ConfigReader train = c.object_or_empty("train");
  r.train = read_train(train);
  if (train.has("dropout")) r.dropout = train.number("dropout", share);
  read_task_keys(train, r);
  if (r.train.early_stopping.metric.empty()) r.train.early_stopping.metric = default_metric(r.task);
  r.train.seed = r.seed;
  c.finish();
  return r;
}

void RunConfig::settle_metric(bool data_in_ids) {
  if (train.early_stopping.metric.empty()) train.early_stopping.metric = data_in_ids ? "loss" : "f1";
}

Json RunConfig::resolved() const {
  Json run = {{"task", name_of(task)}, {"seed", seed}};
  run["data"] = {{"train", data.train},
                 {"validation", data.validation},
                 {"text_field", data.text_field},
                 {"label_field", data.label_field},
                 {"target_field", data.target_field}};
  if (task == TrainTask::tag) run["data"]["entities_field"] = data.entities_field;
  if (task == TrainTask::answer) {
    run["data"]["question_field"] = data.question_field;
    run["data"]["answers_field"] = data.answers_field;
  }
  if (!model.from.empty()) {
    run["model"] = {{"from", model.from}};
  } else {
    run["model"] = {{"architecture", (*model.config)["model_type"]}};
    for (const auto& [key, value] : model.config->items())
      if (key != "model_type") run["model"][key] = value;
  }
  run["tokenizer"] =
      tokenizer.from.empty()
          ? Json{{"type", tokenizer.type}, {"vocab_size", tokenizer.vocab_size}, {"lowercase", tokenizer.lowercase}}
          : Json{{"from", tokenizer.from}};
  run["long"] = {{"policy", attune::name_of(long_policy.kind)}, {"longest", long_policy.longest}};
  Json t;
  if (train.epochs) t["epochs"] = *train.epochs;
  if (train.max_steps) t["max_steps"] = *train.max_steps;
  if (train.batches.batch_size > 0) t["batch_size"] = train.batches.batch_size;
  if (train.batches.batch_tokens > 0) t["batch_tokens"] = train.batches.batch_tokens;
  t["order"] = train.batches.order == BatchOrder::shuffled ? "shuffled" : "sequential";
  t["accumulation"] = train.accumulation;
  t["learning_rate"] = train.learning_rate;
  t["schedule"] = name_of(train.schedule);
  if (train.warmup_steps) t["warmup_steps"] = *train.warmup_steps;
  t["weight_decay"] = train.adamw.weight_decay;
  t["betas"] = {train.adamw.beta1, train.adamw.beta2};
  t["epsilon"] = train.adamw.epsilon;
  t["clip_norm"] = train.clip_norm;
  t["label_smoothing"] = train.label_smoothing;
  if (!train.class_weights.empty()) t["class_weights"] = train.class_weights;
  if (class_balance != ClassBalance::none)
    t["class_weights"] = class_balance == ClassBalance::balanced ? "balanced" : "sqrt_balanced";
  t["ema_decay"] = train.ema_decay;
  t["evaluate_every"] = train.evaluate_every;
  t["checkpoint_every"] = train.checkpoint_every;
  t["gradient_checkpointing"] = train.gradient_checkpointing;
  if (dropout) t["dropout"] = *dropout;
  if (task == TrainTask::mlm) t["mask_probability"] = mask_probability;
  if (task == TrainTask::classify) t["token_dropout"] = token_dropout;
  t["early_stopping"] = {{"metric", train.early_stopping.metric}, {"patience", train.early_stopping.patience}};
  if (train.early_stopping.metric.empty()) t["early_stopping"].erase("metric");
  run["train"] = t;
  return run;
}

void apply_setting(Json& run, const std::string& setting) {
  std::size_t equals = setting.find('=');
  check(equals != std::string::npos && equals > 0,
        "--set {}: expected key=value, for instance train.learning_rate=1e-4", setting);
  std::string key = setting.substr(0, equals), text = setting.substr(equals + 1);
  Json value = text;
  try {
    value = parse_toml("value = " + text, "--set")["value"];
  } catch (const Error&) {
    // Not a TOML value: plain text, as in data.train=DIR.
  }
  Json* at = &run;
  std::size_t begin = 0;
  for (std::size_t dot = key.find('.'); dot != std::string::npos; begin = dot + 1, dot = key.find('.', begin)) {
    at = &(*at)[key.substr(begin, dot - begin)];
    check(at->is_null() || at->is_object(), "--set {}: \"{}\" is not a table", setting, key.substr(0, dot));
  }
  (*at)[key.substr(begin)] = value;
}

std::string to_toml(const Json& run) {
  // Strings, numbers, flags and arrays have one form in JSON and TOML; a table inside a table is written inline.
  auto value_text = [](const Json& value, auto&& self) -> std::string {
    if (!value.is_object()) return value.is_number_float() ? fmt::format("{}", value.get<double>()) : to_text(value);
    std::string inner;
    for (const auto& [key, item] : value.items())
      inner += (inner.empty() ? " " : ", ") + key + " = " + self(item, self);
    return "{" + inner + " }";
  };
  std::string plain, tables;
  for (const auto& [key, value] : run.items()) {
    if (!value.is_object()) {
      plain += key + " = " + value_text(value, value_text) + "\n";
      continue;
    }
    tables += "\n[" + key + "]\n";
    for (const auto& [name, item] : value.items())
      if (!item.is_null()) tables += name + " = " + value_text(item, value_text) + "\n";
  }
  return plain + tables;
}

}  // namespace attune
