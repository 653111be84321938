// Every directory of tests/golden/sentence_embeddings (made by tools/golden/sentence_embeddings.py with
// sentence-transformers) against this program.
#include "attune/tasks/embed.h"

#include <gtest/gtest.h>

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/error.h"

namespace attune {
namespace {

const Path goldens = Path(ATTUNE_GOLDEN_DIR) / "sentence_embeddings";

std::vector<std::string_view> views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::vector<float> one(const Embedder& embedder, std::string_view text, const EmbedOptions& options = {}) {
  return embed(embedder, std::span(&text, 1), options, {}).front().values;
}

class SentenceEmbeddings : public testing::TestWithParam<std::string> {};

TEST_P(SentenceEmbeddings, AreThoseOfSentenceTransformersAlone_InABatch_AndWithEachPrompt) {
  const Embedder embedder = load_embedder(goldens / GetParam());
  const Json expected = read_json(goldens / GetParam() / "expected.json");
  const auto texts = expected["texts"].get<std::vector<std::string>>();
  for (const auto& [prompt, embeddings] : expected["embeddings"].items()) {
    EmbedOptions options;
    if (!prompt.empty()) options.prompt_name = prompt;
    const std::vector<TextEmbedding> ours = embed(embedder, views(texts), options, {});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto theirs = embeddings[i].get<std::vector<float>>();
      ASSERT_EQ(ours[i].values.size(), theirs.size());
      EXPECT_EQ(static_cast<std::int64_t>(theirs.size()), embedder.width());
      for (std::size_t c = 0; c < theirs.size(); ++c)
        EXPECT_NEAR(ours[i].values[c], theirs[c], 1e-5) << prompt << ": " << texts[i] << " at " << c;
      EXPECT_EQ(ours[i].values, one(embedder, texts[i], options)) << "alone";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SentenceEmbeddings,
                         testing::Values("every_pooling", "dense_normalised", "prompts_not_pooled", "older_files"));

TEST(Embed, ALongTextIsRefusedWithBothNumbersOrReadInPiecesNeverCut) {
  const Embedder embedder = load_embedder(goldens / "older_files");
  std::string text;
  for (int i = 0; i < 50; ++i) text += "the patient has pain in chest . ";
  EXPECT_THROW(one(embedder, text), Error);
  EmbedOptions options;
  options.long_policy = LongPolicy::Kind::chunk;
  const std::string_view view = text;
  const TextEmbedding pieces = embed(embedder, std::span(&view, 1), options, {}).front();
  EXPECT_GT(pieces.chunks, 8);
  EXPECT_EQ(pieces.tokens, 50 * 7 + 2 * pieces.chunks);
  double square = 0;
  for (float v : pieces.values) square += static_cast<double>(v) * v;
  EXPECT_NEAR(square, 1, 1e-5) << "normalised again after the mean of the pieces";
}

TEST(Embed, APlainEncoderIsTheMeanOfItsTokensAndMayBeAskedForAnotherPooling) {
  const Embedder embedder = load_embedder(goldens / "every_pooling");
  EmbedOptions options;
  const std::vector<float> every = one(embedder, "pain in chest");  // cls, mean, max, ... one beside the other
  options.pooling = SentencePooling::max;
  const std::vector<float> largest = one(embedder, "pain in chest", options);
  ASSERT_EQ(largest.size(), 12u);
  EXPECT_EQ(largest, std::vector<float>(every.begin() + 24, every.begin() + 36));
  EXPECT_EQ(SentenceEmbedding::read(Path(ATTUNE_GOLDEN_DIR) / "models").pooling,
            std::vector<SentencePooling>{SentencePooling::mean});
}

TEST(Embed, AnUnknownPromptOrModuleIsAnErrorThatNamesIt) {
  const Embedder embedder = load_embedder(goldens / "prompts_not_pooled");
  EmbedOptions options;
  options.prompt_name = "pasage";
  try {
    one(embedder, "pain", options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("document, passage, query"), std::string::npos) << error.what();
  }
  const Path directory = std::filesystem::temp_directory_path() / "attune_embed_modules";
  std::filesystem::create_directories(directory);
  write_file_atomically(directory / "modules.json",
                        R"([{"type": "sentence_transformers.models.CNN", "path": "1_CNN"}])");
  EXPECT_THROW(SentenceEmbedding::read(directory), Error);
  write_file_atomically(directory / "modules.json", R"([{"type": "x.Dense", "path": "../../elsewhere"}])");
  EXPECT_THROW(SentenceEmbedding::read(directory), Error);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace attune
