// Every directory of tests/golden/models (made by tools/golden/models.py with Hugging Face transformers) against this
// program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/data/example_file.h"
#include "attune/models/architecture.h"
#include "attune/models/forward.h"
#include "attune/models/objective.h"

namespace attune {
namespace {

std::vector<Path> golden_models() {
  std::vector<Path> found;
  for (const auto& entry : std::filesystem::directory_iterator(Path(ATTUNE_GOLDEN_DIR) / "models"))
    found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::unique_ptr<Model> open(const Path& directory, bool trainable) {
  WeightSource source{
      .checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(directory / "model.safetensors")),
      .initial = {},
      .trainable = trainable};
  return build_model(read_json(directory / "config.json"), (directory / "config.json").string(), std::move(source));
}

double largest(const Tensor& x) {
  double value = 0;
  for (float v : x.to_vector<float>()) value = std::max(value, std::abs(static_cast<double>(v)));
  return value;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>();
  double value = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    value = std::max(value, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  return value;
}

class Parity : public testing::TestWithParam<Path> {};

TEST_P(Parity, HiddenStatesLogitsAttentionsAndGradientsAreTransformers) {
  auto model = open(GetParam(), true);
  std::vector<NamedTensor> ours = forward_examples(*model, read_examples(GetParam() / "input.jsonl"),
                                                   {.hidden_states = true, .attentions = true, .gradients = true});
  Checkpoint expected = Checkpoint::open(GetParam() / "expected.safetensors");
  double largest_gradient = 0;
  for (const std::string& name : expected.names())
    if (name.starts_with("gradient/")) largest_gradient = std::max(largest_gradient, largest(expected.tensor(name)));
  std::size_t compared = 0;
  for (const std::string& name : expected.names()) {
    auto found = std::find_if(ours.begin(), ours.end(), [&](const NamedTensor& t) { return t.name == name; });
    ASSERT_NE(found, ours.end()) << name << " is missing";
    Tensor reference = expected.tensor(name);
    ASSERT_EQ(found->tensor.shape().text(), reference.shape().text()) << name;
    double difference = largest_difference(found->tensor, reference);
    if (name.starts_with("gradient/")) difference /= std::max(largest(reference), 1e-3 * largest_gradient);
    EXPECT_LE(difference, name.starts_with("gradient/") ? 1e-3 : 1e-4) << name;
    ++compared;
  }
  EXPECT_GT(compared, 20u);
  // For docs/models.md: of what model, and how much of what.
  RecordProperty("model_type", model->facts().model_type);
  for (const char* kind : {"hidden_states", "logits", "gradient"})
    RecordProperty(kind, static_cast<int>(std::ranges::count_if(expected.names(), [&](const std::string& name) {
                     return name.find(kind) != std::string::npos;
                   })));
  for (const NamedTensor& t : ours)
    EXPECT_TRUE(!t.name.starts_with("gradient/") || expected.contains(t.name))
        << t.name << " has no gradient in transformers";
}

TEST_P(Parity, OneLineAloneHasTheBitsThatItHasInTheBatch) {
  auto model = open(GetParam(), false);
  std::vector<Example> lines = read_examples(GetParam() / "input.jsonl");
  std::vector<NamedTensor> together = forward_examples(*model, lines, {});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<NamedTensor> alone = forward_examples(*model, std::span(&lines[i], 1), {});
    for (const NamedTensor& t : together)
      EXPECT_TRUE(t.name != std::to_string(i) + "/logits" ||
                  t.tensor.to_vector<float>() == alone.at(1).tensor.to_vector<float>())
          << "line " << i;
  }
}

/// Logits of a training pass, dropout and all; of one line alone where `only` names it.
std::vector<Tensor> logits_in_training(const Model& model, const std::vector<Example>& lines,
                                       std::optional<std::size_t> only) {
  const std::size_t begin = only.value_or(0), count = only ? 1 : lines.size();
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<std::int64_t>(begin));
  LabelledBatch batch = collate(model, std::span(&lines[begin], count), numbers);
  batch.batch.dropout = RandomKey{.seed = 5};
  if (batch.decoder) batch.decoder->dropout = RandomKey{.seed = 5};
  const Batch& read = batch.decoder ? *batch.decoder : batch.batch;
  const Tensor logits = model.head().logits(final_states(model, batch), read);
  std::vector<Tensor> of_lines;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i)
    of_lines.push_back(model.head().over_sequences() ? logits.rows(i, i + 1)
                                                     : logits.rows(read.offsets.begin(i), read.offsets.end(i)));
  return of_lines;
}

TEST_P(Parity, DropoutHasTheBitsThatItHasInTheBatch) {
  Json config = read_json(GetParam() / "config.json");
  set_dropout(config, 0.4);
  WeightSource source{
      .checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(GetParam() / "model.safetensors")),
      .initial = {},
      .trainable = false};
  const auto model = build_model(config, "config.json with dropout", std::move(source));
  const auto calm = open(GetParam(), false);
  const std::vector<Example> lines = read_examples(GetParam() / "input.jsonl");
  const std::vector<Tensor> together = logits_in_training(*model, lines, {});
  EXPECT_GT(largest_difference(together.at(0), logits_in_training(*calm, lines, {}).at(0)), 1e-3);
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(logits_in_training(*model, lines, i).at(0).to_vector<float>(), together.at(i).to_vector<float>()) << i;
}

INSTANTIATE_TEST_SUITE_P(Models, Parity, testing::ValuesIn(golden_models()),
                         [](const auto& info) { return info.param.filename().string(); });

}  // namespace
}  // namespace attune
