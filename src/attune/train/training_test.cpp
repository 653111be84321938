// Training runs: equal to transformers' first ten steps, and the same bits however often a run is killed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/base/threads.h"
#include "attune/data/example_file.h"
#include "attune/models/architecture.h"
#include "attune/tensor/storage.h"
#include "attune/train/learn.h"
#include "attune/train/tensorboard.h"

namespace attune {
namespace {

Path golden(const std::string& name) { return Path(ATTUNE_GOLDEN_DIR) / "models" / name; }

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden("")))
    if (std::filesystem::exists(entry.path() / "training.json")) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// A directory of its own for one test, removed at its end.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "attune_train_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Path operator/(const std::string& name) const { return path_ / name; }

 private:
  Path path_;
};

class TenSteps : public testing::TestWithParam<std::string> {};

TEST_P(TenSteps, HaveTheLossesAndGradientNormsOfTransformers) {
  Path directory = golden(GetParam());
  Json expected = read_json(directory / "training.json");
  const Json& settings = expected["settings"];
  Scratch scratch;
  // The run as a user would write it: lines of ids, all of them in each batch, in the file's order.
  Json run = {{"task", "lm"},
              {"data", {{"train", (directory / "input.jsonl").string()}}},
              {"model", {{"from", directory.string()}}}};
  std::string architecture = read_json(directory / "config.json")["architectures"][0];
  if (architecture.ends_with("ForMaskedLM")) run["task"] = "mlm";
  if (architecture.ends_with("ForSequenceClassification")) run["task"] = "classify";
  if (architecture.ends_with("ForTokenClassification")) run["task"] = "tag";
  if (architecture.ends_with("ForQuestionAnswering")) run["task"] = "answer";
  if (architecture == "MarianMTModel" || architecture.ends_with("ForConditionalGeneration")) run["task"] = "translate";
  run["train"] = {{"max_steps", settings["max_steps"]},
                  {"batch_size", 4},
                  {"order", "sequential"},
                  {"schedule", settings["schedule"]},
                  {"learning_rate", settings["learning_rate"]},
                  {"warmup_steps", settings["warmup_steps"]},
                  {"weight_decay", settings["weight_decay"]},
                  {"betas", settings["betas"]},
                  {"epsilon", settings["epsilon"]},
                  {"clip_norm", settings["clip_norm"]}};
  RecordProperty("model_type", read_json(directory / "config.json")["model_type"].get<std::string>());
  TrainingResult result = learn(RunConfig::read(run, "test"), scratch / "run", false, {});
  ASSERT_EQ(result.history.size(), expected["steps"].size());
  for (std::size_t i = 0; i < result.history.size(); ++i) {
    const Json& step = expected["steps"][i];
    EXPECT_NEAR(result.history[i].loss / step["loss"].get<double>(), 1, 1e-4) << "step " << i + 1;
    EXPECT_NEAR(result.history[i].gradient_norm / step["grad_norm"].get<double>(), 1, 1e-4) << "step " << i + 1;
    EXPECT_NEAR(result.history[i].learning_rate, step["learning_rate"].get<double>(), 1e-12) << "step " << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TenSteps, testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

/// A small run with dropout, masking, evaluation, averaged weights: everything whose state a checkpoint must hold.
RunConfig small_run(const Scratch& scratch) {
  std::string lines;
  RandomStream random(RandomKey{.seed = 3});
  for (int i = 0; i < 24; ++i) {
    std::string ids, labels;
    for (int t = 0; t < 3 + i % 5; ++t) {
      ids += (t > 0 ? "," : "") + std::to_string(3 + random.below(34));
      labels += (t > 0 ? "," : "") + std::to_string(t % 2 == 0 ? 3 + random.below(34) : -100);
    }
    lines += "{\"ids\":[" + ids + "],\"labels\":[" + labels + "]}\n";
  }
  write_file_atomically(scratch / "lines.jsonl", lines);
  Json run = {
      {"task", "mlm"},
      {"seed", 11},
      {"data", {{"train", (scratch / "lines.jsonl").string()}, {"validation", (scratch / "lines.jsonl").string()}}},
      {"model", {{"from", golden("bert_masked_lm").string()}}},
      {"train",
       {{"epochs", 3},
        {"batch_tokens", 20},
        {"accumulation", 2},
        {"learning_rate", 1e-3},
        {"dropout", 0.2},
        {"ema_decay", 0.9},
        {"checkpoint_every", 2},
        {"evaluate_every", 3}}}};
  return RunConfig::read(run, "test");
}

std::string bytes_of(const Path& run) { return read_file(run / "model" / "model.safetensors"); }

std::vector<double> losses_of(const TrainingResult& result) {
  std::vector<double> losses;
  for (const StepRecord& step : result.history) losses.push_back(step.loss);
  return losses;
}

/// Runs in a process of its own that is killed, as by kill -9, once it reports step `at`.
void train_and_die(const RunConfig& config, const Path& output, std::int64_t at) {
  pid_t child = fork();
  if (child == 0) {
    Run run{.progress = [at](const Progress& now) {
      if (now.doing == "training" && now.done == at) raise(SIGKILL);
    }};
    try {
      learn(config, output, std::filesystem::exists(output), run);
    } catch (...) {
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the run ended before step " << at;
}

TEST(Resume, AKilledRunGoesOnToTheSameBits) {
  set_num_threads(1);  // no pool: a forked child has none of its parent's threads
  Scratch scratch;
  RunConfig config = small_run(scratch);
  TrainingResult whole = learn(config, scratch / "whole", false, {});
  ASSERT_GE(whole.steps, 9);
  for (std::int64_t first : {1, 2, 3, 5}) {
    Path output = scratch / ("killed_" + std::to_string(first));
    train_and_die(config, output, first);
    train_and_die(config, output, 7);
    TrainingResult resumed = learn(config, output, true, {});
    EXPECT_EQ(bytes_of(output), bytes_of(scratch / "whole")) << "killed at step " << first;
    EXPECT_EQ(losses_of(resumed), losses_of(whole));
  }
}

TEST(Resume, AStoppedRunIsSavedAndGoesOnToTheSameBits) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  learn(config, scratch / "whole", false, {});
  std::atomic<bool> cancel = false;
  attune::Run run{.progress = [&](const Progress& now) { cancel = now.doing == "training" && now.done == 5; },
                  .cancel = &cancel};
  EXPECT_THROW(learn(config, scratch / "stopped", false, run), Cancelled);
  learn(config, scratch / "stopped", true, {});
  EXPECT_EQ(bytes_of(scratch / "stopped"), bytes_of(scratch / "whole"));
}

TEST(Resume, ARunThatIsStoppedInAnEvaluationGoesOnToTheSameBits) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  learn(config, scratch / "whole", false, {});
  // Cancel is seen at the first look after step 6, where an evaluation is due: it is measured batch by batch.
  std::atomic<bool> cancel = false;
  attune::Run run{.progress = [&](const Progress& now) { cancel = now.doing == "training" && now.done == 6; },
                  .cancel = &cancel};
  EXPECT_THROW(learn(config, scratch / "stopped", false, run), Cancelled);
  learn(config, scratch / "stopped", true, {});
  EXPECT_EQ(bytes_of(scratch / "stopped"), bytes_of(scratch / "whole"));
}

TEST(Resume, AFinishedRunSaysSoAndDoesNothing) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  TrainingResult first = learn(config, scratch / "run", false, {});
  TrainingResult again = learn(config, scratch / "run", true, {});
  EXPECT_TRUE(again.was_finished);
  EXPECT_EQ(again.best_step, first.best_step);
}

TEST(Resume, TheOrderOfTheRunFilesKeysChangesNothing) {
  Scratch scratch;
  write_file_atomically(scratch / "lines.jsonl", "{\"ids\":[5,6,7],\"labels\":[5,6,7]}\n");
  auto run = [&](const Json& model) {
    return RunConfig::read({{"task", "lm"},
                            {"data", {{"train", (scratch / "lines.jsonl").string()}}},
                            {"model", model},
                            {"train", {{"max_steps", 2}}}},
                           "test");
  };
  const Json given = {{"architecture", "attune"}, {"vocab_size", 20}, {"hidden_size", 8}, {"num_attention_heads", 2}};
  const Json sorted = {{"architecture", "attune"}, {"hidden_size", 8}, {"num_attention_heads", 2}, {"vocab_size", 20}};
  learn(run(given), scratch / "run", false, {});
  EXPECT_TRUE(learn(run(sorted), scratch / "run", true, {}).was_finished);
}

TEST(Resume, AChangedConfigurationOrChangedDataAreRefused) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  learn(config, scratch / "run", false, {});
  RunConfig other = config;
  other.train.learning_rate = 2e-3;
  EXPECT_THROW(learn(other, scratch / "run", true, {}), Error);
  write_file_atomically(scratch / "lines.jsonl", "{\"ids\":[5,6],\"labels\":[5,6]}\n");
  EXPECT_THROW(learn(config, scratch / "run", true, {}), Error);
}

TEST(Resume, AnExistingRunIsNotOverwritten) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  learn(config, scratch / "run", false, {});
  EXPECT_THROW(learn(config, scratch / "run", false, {}), Error);
}

TEST(Training, AsksTheSystemForNoMemoryAfterTheFirstStep) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  config.train.max_steps = 8;
  config.train.epochs.reset();
  config.train.batches = {.batch_size = 24, .order = BatchOrder::sequential};  // the same size at each step
  config.train.accumulation = 1;
  config.train.evaluate_every = config.train.checkpoint_every = 100;
  std::vector<std::int64_t> calls;
  attune::Run run;
  run.progress = [&](const Progress& now) {
    if (now.doing == "training") calls.push_back(allocator_statistics().system_calls);
  };
  learn(config, scratch / "run", false, run);
  ASSERT_EQ(calls.size(), 8u);
  EXPECT_EQ(calls.front(), calls.back());
}

TEST(Training, TheRunDirectoryHoldsWhatTheContractOfTheCommandLineNames) {
  Scratch scratch;
  learn(small_run(scratch), scratch / "run", false, {});
  for (const char* name :
       {"config.toml", "metrics.jsonl", "checkpoints", "model/config.json", "model/attune.json", "report.html"})
    EXPECT_TRUE(std::filesystem::exists(scratch / "run" / name)) << name;
  EXPECT_NE(read_file(scratch / "run" / "report.html").find("Loss"), std::string::npos);
  EXPECT_GT(std::filesystem::file_size(scratch / "run" / "tensorboard" / "events.out.tfevents.0.attune"), 1000u);
}

TEST(TensorBoard, TheChecksumIsCastagnolis) {
  std::string digits = "123456789";  // the check value that RFC 3720's polynomial gives
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits.data(), digits.size()))), 0xe3069283u);
}

TEST(Training, TheSameBitsOnOneAndOnThreeThreads) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  int before = num_threads();
  set_num_threads(1);
  learn(config, scratch / "one", false, {});
  set_num_threads(3);
  learn(config, scratch / "three", false, {});
  set_num_threads(before);
  EXPECT_EQ(bytes_of(scratch / "one"), bytes_of(scratch / "three"));
}

TEST(Training, GradientCheckpointingChangesNoLoss) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  TrainingResult plain = learn(config, scratch / "plain", false, {});
  config.train.gradient_checkpointing = true;
  TrainingResult saving = learn(config, scratch / "saving", false, {});
  EXPECT_EQ(losses_of(plain), losses_of(saving));
}

TEST(Training, ALossThatIsNotFiniteStopsTheRunWithTheStepAndTheExamples) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  config.train.learning_rate = 1e30;
  config.train.warmup_steps = 0;
  config.train.clip_norm = 0;
  try {
    learn(config, scratch / "run", false, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("training step"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("Examples of the batch"), std::string::npos) << error.what();
  }
}

TEST(Training, ALossThatIsNotFiniteNamesTheDocuments) {
  Scratch scratch;
  std::string lines = "\n";  // line 1
  for (int i = 0; i < 6; ++i)
    lines += fmt::format("{{\"id\": \"note-{}\", \"text\": \"text number {}\", \"label\": \"{}\"}}\n", i, i, i % 2);
  write_file_atomically(scratch / "texts.jsonl", lines);
  for (const char* task : {"classify", "mlm", "lm"}) {
    Json run = {{"task", task}, {"data", {{"train", (scratch / "texts.jsonl").string()}}}};
    bool causal = std::string(task) == "lm";
    run["model"] = {{"architecture", "bert"},   {"hidden_size", 8},       {"num_hidden_layers", 1},
                    {"num_attention_heads", 2}, {"intermediate_size", 8}, {"max_position_embeddings", 64}};
    if (causal)
      run["model"] = {{"architecture", "gpt2"}, {"n_layer", 1}, {"n_embd", 8}, {"n_head", 2}, {"n_positions", 8}};
    run["train"] = {{"epochs", 9}, {"learning_rate", 1e30}, {"warmup_steps", 0}, {"clip_norm", 0}};
    try {
      learn(RunConfig::read(run, "test"), scratch / task, false, {});
      ADD_FAILURE() << task;
    } catch (const Error& error) {
      std::string message = error.what();
      EXPECT_NE(message.find(causal ? "a block from line 2 (note-0)" : "line 2 (note-0)"), std::string::npos)
          << message;
      EXPECT_TRUE(causal || message.find("line 7 (note-5)") != std::string::npos) << message;
    }
  }
}

TEST(Training, AWarmUpLongerThanTheRunIsWarnedOf) {
  Scratch scratch;
  RunConfig config = small_run(scratch);
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel level, const std::string& message) {
    if (level == LogLevel::warning) warnings.push_back(message);
  });
  config.train.warmup_steps = 10000;
  learn(config, scratch / "long", false, {});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("warmup_steps is 10000"), std::string::npos) << warnings[0];
  warnings.clear();
  config.train.warmup_steps = 2;
  learn(config, scratch / "short", false, {});
  set_log_sink({});
  EXPECT_TRUE(warnings.empty());
}

}  // namespace
}  // namespace attune
