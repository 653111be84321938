// tests/golden/generation (made by tools/golden/generation.py with Hugging Face transformers) against this program.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attune/decode/beam_search.h"
#include "attune/decode/decoding_cases.h"
#include "attune/decode/generate.h"
#include "attune/models/architecture.h"

namespace attune {

std::unique_ptr<Model> open(const Path& directory) {
  WeightSource source{
      .checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(directory / "model.safetensors")),
      .initial = {}};
  return build_model(read_json(directory / "config.json"), (directory / "config.json").string(), std::move(source));
}

namespace {

void expect_generated(const Model& model, const Json& golden) {
  GenerateOptions options{.max_tokens = golden["max_tokens"], .stop_ids = golden["stop_ids"], .sampling = {}};
  std::vector<Generated> written = generate(model, golden["inputs"].get<std::vector<Ids>>(), options, {});
  for (std::size_t i = 0; i < written.size(); ++i)
    EXPECT_EQ(written[i].ids, golden["expected"][i]["ids"].get<Ids>()) << "input " << i;
}

void expect_searched(const Model& model, const Json& golden) {
  BeamOptions options{.beams = golden["beams"],
                      .length_penalty = golden["length_penalty"],
                      .max_tokens = golden["max_tokens"],
                      .stop_ids = golden["stop_ids"],
                      .forced_stop_id = {},
                      .forbidden_ids = golden["forbidden_ids"]};
  if (!golden["forced_stop_id"].is_null()) options.forced_stop_id = golden["forced_stop_id"].get<std::int64_t>();
  std::vector<BeamResult> found = beam_search(model, golden["inputs"].get<std::vector<Ids>>(), options, {});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Json& expected = golden["expected"][i];
    EXPECT_EQ(found[i].ids, expected["ids"].get<Ids>()) << "input " << i;
    if (expected.contains("score")) {
      EXPECT_NEAR(found[i].score, expected["score"].get<double>(), 1e-5) << "input " << i;
    }
  }
}

TEST(Golden, DecodingWritesWhatTransformersWrites) {
  Path directory = ATTUNE_GOLDEN_DIR;
  Json cases = read_json(directory / "generation" / "cases.json");
  EXPECT_GT(cases.size(), 10u);
  for (const Json& golden : cases) {
    SCOPED_TRACE(golden["model"].get<std::string>() + ", beams " + golden["beams"].dump());
    auto model = open(directory / "models" / golden["model"].get<std::string>());
    if (golden["beams"] == 1 && model->facts().head == HeadKind::causal_lm) expect_generated(*model, golden);
    expect_searched(*model, golden);
  }
}

}  // namespace
}  // namespace attune
