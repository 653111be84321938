// Windows over long texts against Hugging Face's recipe (tests/golden/generation/sliding.json, by
// tools/golden/decoding.py), and against asking without windows.
#include "attune/explain/sliding_perplexity.h"

#include <gtest/gtest.h>

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/models/architecture.h"

namespace attune::explain {
namespace {

const Path goldens = ATTUNE_GOLDEN_DIR;

std::unique_ptr<Model> model_of(const std::string& name) {
  const Path directory = goldens / "models" / name;
  WeightSource source{
      .checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(directory / "model.safetensors")),
      .initial = {}};
  return build_model(read_json(directory / "config.json"), name, std::move(source));
}

TEST(SlidingPerplexity, LossesAreThoseOfTheRecipe) {
  const Json golden = read_json(goldens / "generation" / "sliding.json");
  const auto model = model_of(golden["model"]);
  EXPECT_GT(golden["cases"].size(), 4u);
  for (const Json& one : golden["cases"]) {
    SCOPED_TRACE(fmt::format("length {}, stride {}", one["length"].get<int>(), one["stride"].get<int>()));
    const auto result = sliding_perplexity({*model}, {one["ids"]}, one["length"], one["stride"]);
    ASSERT_EQ(result.windows.size(), one["losses"].size());
    for (std::size_t w = 0; w < result.windows.size(); ++w)
      EXPECT_NEAR(result.windows[w].loss, one["losses"][w].get<double>(), 1e-4) << w;
    EXPECT_NEAR(result.recipe_perplexity() / one["perplexity"].get<double>(), 1, 1e-4);
  }
}

TEST(SlidingPerplexity, AsksForEachTokenOnceAndAgreesWithOneWindow) {
  const auto model = model_of("llama_tied_biased");
  std::vector<std::vector<std::int64_t>> texts(2);
  for (std::int64_t i = 0; i < 40; ++i) texts[0].push_back(3 + i * 7 % 31);
  texts[1] = {5, 9, 6};
  const auto whole = sliding_perplexity({*model}, texts, 40, 13), narrow = sliding_perplexity({*model}, texts, 8, 2);
  EXPECT_EQ(whole.windows.size(), 2u);
  EXPECT_EQ(whole.tokens, 39 + 2);
  EXPECT_EQ(narrow.tokens, 39 + 2);
  Asked all{texts[0], {}};
  for (std::int64_t place = 1; place < 40; ++place) all.places.push_back(place);
  double sum = 0;
  const auto answers = ask(*model, {all}, {});
  for (const TokenAnswer& answer : answers[0]) sum += answer.loss;
  EXPECT_NEAR(whole.windows[0].loss, sum / 39, 1e-12);
  EXPECT_NE(narrow.perplexity(), whole.perplexity());
  EXPECT_DOUBLE_EQ(whole.perplexity(), std::exp((39 * whole.windows[0].loss + 2 * whole.windows[1].loss) / 41));
}

TEST(SlidingPerplexity, SaysWhatIsOutOfRange) {
  const auto model = model_of("gpt2_tied");
  const std::int64_t longest = model->facts().longest.value();
  const std::vector<std::vector<std::int64_t>> text = {{3, 4, 5, 6}};
  EXPECT_THROW(sliding_perplexity({*model}, text, longest + 1, 2), Error);
  EXPECT_THROW(sliding_perplexity({*model}, text, 1, 1), Error);
  EXPECT_THROW(sliding_perplexity({*model}, text, 4, 0), Error);
  EXPECT_THROW(sliding_perplexity({*model}, text, 4, 5), Error);
  EXPECT_THROW(sliding_perplexity({*model}, {{3}, {}}, 4, 2), Error);
  EXPECT_THROW(sliding_perplexity({*model_of("bert_masked_lm")}, text, 4, 2), Error);
}

}  // namespace
}  // namespace attune::explain
