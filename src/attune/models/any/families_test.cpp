// Every attention family that there is, in a whole model: what holds for each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/threads.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/models/architecture.h"
#include "attune/models/objective.h"
#include "attune/nn/attention/family.h"

namespace attune {
namespace {

/// Small sizes, so that a text of 60 tokens is more than one window, block, segment or rank.
Json settings_of(const std::string& family) {
  static const Json sizes = {{"window", {{"one_sided", 5}, {"dilation", 2}}},
                             {"longformer", {{"one_sided", 5}, {"global_tokens", 2}}},
                             {"bigbird", {{"block", 4}, {"random_blocks", 1}}},
                             {"strided", {{"stride", 6}}},
                             {"streaming", {{"one_sided", 5}, {"first_keys", 2}}},
                             {"linformer", {{"rank", 7}}},
                             {"nystromformer", {{"num_landmarks", 6}, {"conv_kernel_size", 3}}},
                             {"recurrent_memory", {{"segment", 16}, {"memory_tokens", 2}}},
                             {"transformer_xl", {{"segment", 16}, {"memory", 24}}},
                             {"knn", {{"local", 5}, {"neighbours", 3}}}};
  Json settings = sizes.value(family, Json::object());
  settings["family"] = family;
  return settings;
}

struct Use {
  std::string family;
  bool causal;

  friend void PrintTo(const Use& use, std::ostream* out) { *out << use.family; }
};

std::vector<Use> uses() {
  std::vector<Use> all;
  for (const FamilyEntry& entry : attention_families()) {
    if (entry.in_decoder) all.push_back({entry.name, true});
    if (entry.in_encoder) all.push_back({entry.name, false});
  }
  return all;
}

Json config_of(const Use& use) {
  return {{"model_type", "attune"},
          {"architectures", {use.causal ? "AttuneForCausalLM" : "AttuneForMaskedLM"}},
          {"vocab_size", 31},
          {"hidden_size", 16},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 2},
          {"initializer_range", 0.3},
          {"max_position_embeddings", 80},
          {"attention", settings_of(use.family)}};
}

std::unique_ptr<Model> model_of(const Use& use, DType type = DType::F32) {
  return build_model(config_of(use), "a test's config",
                     {.checkpoint = nullptr, .initial = {.seed = 5}, .trainable = true, .type = type});
}

std::vector<std::int64_t> text(std::int64_t length, std::uint64_t seed) {
  RandomStream random({.seed = seed});
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < length; ++i) ids.push_back(random.below(31));
  return ids;
}

Tensor loss_over(const Model& model) {
  const std::vector<std::vector<std::int64_t>> texts = {text(60, 1), text(1, 2), text(23, 3)};
  std::vector<Example> examples;
  for (const auto& ids : texts) examples.push_back({.chunks = {ids}, .labels = ids});
  const std::vector<std::int64_t> numbers = {0, 1, 2};
  return loss_of(model, collate(model, examples, numbers));
}

class EveryFamily : public testing::TestWithParam<Use> {};
class EveryDecoder : public EveryFamily {};
/// All but those whose memory is a constant to the gradient on purpose: tests/golden/memory_attention holds theirs.
class EveryDifferentiated : public EveryFamily {};

std::vector<Use> uses_where(const std::function<bool(const Use&)>& wanted) {
  std::vector<Use> some;
  std::ranges::copy_if(uses(), std::back_inserter(some), wanted);
  return some;
}

std::string name_of_use(const testing::TestParamInfo<Use>& info) {
  return info.param.family + (info.param.causal ? "_decoder" : "_encoder");
}

TEST_P(EveryFamily, ATextHasTheBitsThatItHasAloneWhateverTheThreads) {
  NoGradient none;
  auto model = model_of(GetParam());
  const std::vector<std::vector<std::int64_t>> texts = {text(60, 1), text(3, 2), text(33, 3)};
  const Batch batch = Batch::of(texts);
  const int threads = num_threads();
  set_num_threads(2);
  const Tensor together = model->forward(batch);
  set_num_threads(1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto s = static_cast<std::int64_t>(i);
    EXPECT_EQ(model->forward(Batch::of({texts[i]}, s)).to_vector<float>(),
              together.rows(batch.offsets.begin(s), batch.offsets.end(s)).to_vector<float>());
  }
  set_num_threads(threads);
}

TEST_P(EveryDecoder, NoTokenOfADecoderSeesALaterOne) {
  NoGradient none;
  auto model = model_of(GetParam());
  const std::vector<std::int64_t> whole = text(60, 1);
  const Tensor y = model->forward(Batch::of({whole}));
  for (std::int64_t t : {0, 4, 15, 16, 31, 58}) {
    std::vector<std::int64_t> other = whole;
    for (std::size_t i = static_cast<std::size_t>(t) + 1; i < other.size(); ++i) other[i] = (other[i] + 7) % 31;
    EXPECT_EQ(model->forward(Batch::of({other})).rows(0, t + 1).to_vector<float>(), y.rows(0, t + 1).to_vector<float>())
        << "token " << t;
  }
}

TEST_P(EveryFamily, SavedAndReadAgainItGivesTheSameBits) {
  NoGradient none;
  const Path directory = Path(testing::TempDir()) / ("attune_" + GetParam().family + std::to_string(GetParam().causal));
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  auto model = model_of(GetParam());
  std::vector<NamedTensor> weights;
  for (const Parameter& p : model->parameters().all()) weights.push_back({p.name, p.value.detached()});
  write_sharded(directory, weights);
  WeightSource source{.checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(directory)), .initial = {}};
  auto again = build_model(config_of(GetParam()), "a test's config", source);
  const Batch batch = Batch::of({text(60, 1), text(3, 2)});
  EXPECT_EQ(again->forward(batch).to_vector<float>(), model->forward(batch).to_vector<float>());
  std::filesystem::remove_all(directory);
}

// Along a random direction of all weights, by central differences in f64.
TEST_P(EveryDifferentiated, TheGradientIsThatOfTheLoss) {
  auto model = model_of(GetParam(), DType::F64);
  backward(loss_over(*model));
  std::vector<std::vector<double>> direction;
  double expected = 0;
  RandomStream random({.seed = 8});
  for (const Parameter& p : model->parameters().all()) {
    ASSERT_TRUE(gradient_of(p.value).defined()) << p.name;
    const std::vector<double> gradient = gradient_of(p.value).to_vector<double>();
    EXPECT_TRUE(std::ranges::any_of(gradient, [](double g) { return g != 0; })) << p.name;
    direction.emplace_back();
    for (double g : gradient) {
      direction.back().push_back(random.normal());
      expected += g * direction.back().back();
    }
  }
  auto loss_at = [&](double step) {
    for (std::size_t i = 0; i < direction.size(); ++i) {
      const Tensor& value = model->parameters().all()[i].value;
      double* values = value.mutable_data<double>();
      for (std::size_t j = 0; j < direction[i].size(); ++j) values[j] += step * direction[i][j];
      value.mark_changed();
    }
    NoGradient none;
    return loss_over(*model).item();
  };
  const double step = 1e-6, above = loss_at(step), below = loss_at(-2 * step);
  EXPECT_NEAR((above - below) / (2 * step), expected, 1e-5 * std::max(1.0, std::abs(expected)));
}

INSTANTIATE_TEST_SUITE_P(AttuneModel, EveryFamily, testing::ValuesIn(uses()), name_of_use);
INSTANTIATE_TEST_SUITE_P(AttuneModel, EveryDecoder,
                         testing::ValuesIn(uses_where([](const Use& use) { return use.causal; })), name_of_use);
INSTANTIATE_TEST_SUITE_P(AttuneModel, EveryDifferentiated, testing::ValuesIn(uses_where([](const Use& use) {
                           return use.family != "transformer_xl" && use.family != "knn";
                         })),
                         name_of_use);

}  // namespace
}  // namespace attune
