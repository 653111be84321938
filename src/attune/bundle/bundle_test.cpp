// All of tests/golden/models: opened as classifiers of a user's own labels, and saved.
#include <gtest/gtest.h>

#include <algorithm>

#include "attune/base/error.h"
#include "attune/base/json_values.h"
#include "attune/bundle/bundle.h"
#include "attune/data/example_file.h"
#include "attune/models/forward.h"

namespace attune {
namespace {

const std::vector<std::string> labels = {"bone", "heart", "skin"};

std::vector<Path> golden_models() {
  std::vector<Path> found;
  for (const auto& entry : std::filesystem::directory_iterator(Path(ATTUNE_GOLDEN_DIR) / "models"))
    found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// Whether the program has a classifier on models of this type.
bool can_classify(const Json& config) {
  for (const Architecture& a : architectures())
    if (a.model_type == config["model_type"])
      return std::ranges::any_of(a.classes, [](const auto& c) { return c.second == HeadKind::classify; });
  return false;
}

std::vector<Path> models_that_can_classify() {
  std::vector<Path> found = golden_models();
  std::erase_if(found, [](const Path& model) { return !can_classify(read_json(model / "config.json")); });
  return found;
}

Bundle open_for(const Path& model, std::vector<std::string> names) {
  return load_bundle(model, {.trainable = true, .head = HeadKind::classify, .labels = std::move(names)});
}

std::string error_of(const Path& model, std::vector<std::string> names) {
  try {
    open_for(model, std::move(names));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class Classifiers : public testing::TestWithParam<Path> {};

TEST_P(Classifiers, BeginAfreshOnABodyAndAreKeptWhereTheFileHasThem) {
  const Json config = read_json(GetParam() / "config.json");
  if (config["architectures"][0].get<std::string>().ends_with("ForSequenceClassification")) {
    const std::vector<std::string> own = labels_of(config, GetParam());
    EXPECT_TRUE(open_for(GetParam(), own).model->parameters().fresh().empty());
    // Data need not have all of them, nor in the order of the classes.
    const Bundle kept = open_for(GetParam(), {own.back(), own.front()});
    EXPECT_TRUE(kept.model->parameters().fresh().empty());
    EXPECT_EQ(kept.contract.labels, own);
    EXPECT_NE(error_of(GetParam(), labels).find("for other labels"), std::string::npos);
    return;
  }
  const Bundle bundle = open_for(GetParam(), labels);
  EXPECT_EQ(bundle.contract.labels, labels);
  EXPECT_EQ(bundle.model->head().output().matrix().out_features(), 3);
  const auto& fresh = bundle.model->parameters().fresh();
  ASSERT_FALSE(fresh.empty());
  // The head alone: nothing of the body is new.
  for (const std::string& name : fresh) {
    const bool of_head = name.starts_with("classifier") || name.starts_with("pre_classifier") ||
                         name.starts_with("score") || name.starts_with("classification_head") ||
                         name.starts_with("head.") || name.find("pooler") != std::string::npos ||
                         name.starts_with("sequence_summary");
    EXPECT_TRUE(of_head) << name;
  }
}

class Saved : public testing::TestWithParam<Path> {};

TEST_P(Saved, DirectoriesGiveTheSameBits) {
  const Bundle bundle = load_bundle(GetParam());
  RecordProperty("model_type", bundle.model->facts().model_type);
  const Path copy = Path(testing::TempDir()) / ("saved_model_" + GetParam().filename().string());
  std::filesystem::remove_all(copy);
  make_directories(copy);
  save_bundle(bundle, copy);
  const Bundle again = load_bundle(copy);
  EXPECT_TRUE(again.model->parameters().unused().empty());
  const std::vector<Example> lines = read_examples(GetParam() / "input.jsonl");
  const std::vector<NamedTensor> ours = forward_examples(*bundle.model, lines, {}),
                                 theirs = forward_examples(*again.model, lines, {});
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_EQ(ours[i].tensor.to_vector<float>(), theirs[i].tensor.to_vector<float>()) << ours[i].name;
}

INSTANTIATE_TEST_SUITE_P(Models, Saved, testing::ValuesIn(golden_models()),
                         [](const auto& info) { return info.param.filename().string(); });

INSTANTIATE_TEST_SUITE_P(Models, Classifiers, testing::ValuesIn(models_that_can_classify()),
                         [](const auto& info) { return info.param.filename().string(); });

}  // namespace
}  // namespace attune
