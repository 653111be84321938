#include "attune/train/run_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/bundle/bundle.h"
#include "attune/train/task_data.h"

namespace attune {
namespace {

Json classification(const Json& train) {
  return {{"task", "classify"}, {"data", {{"train", "t.jsonl"}}}, {"model", {{"from", "m"}}}, {"train", train}};
}

std::string error_of(const Json& run) {
  try {
    RunConfig::read(run, "run.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RunConfig, WhatIsResolvedReadsAsTheSame) {
  for (const char* task : {"classify", "mlm", "lm", "translate"}) {
    Json run = classification({{"epochs", 2}, {"betas", {0.8, 0.99}}});
    run["task"] = task;
    Json resolved = RunConfig::read(run, "run.toml").resolved();
    EXPECT_EQ(RunConfig::read(resolved, "config.toml").resolved(), resolved) << task;
  }
  Json resolved = RunConfig::read(classification({{"class_weights", "sqrt_balanced"}}), "run.toml").resolved();
  EXPECT_EQ(resolved["train"]["class_weights"], "sqrt_balanced");
}

TEST(RunConfig, TablesWithinTheModelReachTheArchitectureAndComeBack) {
  const std::string text =
      "task = \"lm\"\n[data]\ntrain = \"t.jsonl\"\n[model]\narchitecture = \"attune\"\n"
      "[model.attention]\nfamily = \"window\"\none_sided = 64\n[model.positions]\nmethod = \"none\"\n";
  Json run = parse_toml(text, "run.toml");
  apply_setting(run, "model.attention.one_sided=32");
  const RunConfig read = RunConfig::read(run, "run.toml");
  EXPECT_EQ((*read.model.config)["attention"], (Json{{"family", "window"}, {"one_sided", 32}}));
  EXPECT_EQ((*read.model.config)["positions"]["method"], "none");
  const Json resolved = read.resolved();
  EXPECT_EQ(RunConfig::read(parse_toml(to_toml(resolved), "config.toml"), "config.toml").resolved(), resolved);
}

TEST(RunConfig, ARunWithoutEndIsRefusedByName) {
  for (const char* key : {"epochs", "max_steps", "batch_size", "accumulation"}) {
    std::string message = error_of(classification({{key, std::int64_t{1} << 60}}));
    EXPECT_NE(message.find(std::string("train.") + key), std::string::npos) << message;
  }
  EXPECT_NE(error_of(classification({{"epochs", 1e300}})).find("train.epochs"), std::string::npos);
}

TEST(RunConfig, AKeyOfAnotherTaskIsRefused) {
  EXPECT_NE(error_of(classification({{"mask_probability", 0.2}})).find("it belongs to the task mlm"),
            std::string::npos);
  Json run = classification({{"token_dropout", 0.2}});
  run["task"] = "lm";
  EXPECT_NE(error_of(run).find("it belongs to the task classify"), std::string::npos) << error_of(run);
}

TEST(RunConfig, ClassWeightsAreNumbersOrOneOfTheNames) {
  EXPECT_EQ(error_of(classification({{"class_weights", {1, 2.5}}})), "no error");
  EXPECT_EQ(error_of(classification({{"class_weights", "balanced"}})), "no error");
  EXPECT_NE(error_of(classification({{"class_weights", "blanced"}})).find("balanced"), std::string::npos);
  EXPECT_NE(error_of(classification({{"class_weights", {"a"}}})).find("list of numbers"), std::string::npos);
}

/// The weights that the lines' classes 0, 0, 0, 1 get.
std::vector<double> weights_of(const std::string& named) {
  RunConfig config = RunConfig::read(classification({{"class_weights", named}}), "run.toml");
  RunFiles files;
  files.in_ids = true;
  for (std::int64_t label : {0, 0, 0, 1})
    files.train_examples.push_back({.chunks = {{5}}, .type_ids = {}, .decoder_ids = {}, .labels = {label}});
  Bundle bundle;
  bundle.contract.labels = {"a", "b"};
  return make_task_data(files, config, bundle, {}).class_weights;
}

TEST(ClassWeights, BalancedIsAsInScikitLearn) {
  // compute_class_weight("balanced", classes=[0, 1], y=[0, 0, 0, 1]) of scikit-learn 1.9
  EXPECT_EQ(weights_of("balanced"), (std::vector<double>{4.0 / 6, 2}));
  EXPECT_EQ(weights_of("sqrt_balanced"), (std::vector<double>{std::sqrt(4.0 / 6), std::sqrt(2)}));
}

}  // namespace
}  // namespace attune
