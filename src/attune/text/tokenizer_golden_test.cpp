// Hugging Face's tokenizers and Attune agree on every golden in tests/golden/text (written by
// tools/golden/tokenizer_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include "attune/base/json_values.h"

#include "attune/base/json.h"
#include "attune/text/tokenizer.h"

namespace attune {
namespace {

std::vector<Path> goldens() {
  std::vector<Path> files;
  for (const auto& entry : std::filesystem::directory_iterator(Path(ATTUNE_GOLDEN_DIR) / "text"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class TokenizerGolden : public testing::TestWithParam<Path> {};

std::vector<std::int32_t> numbers(const Json& golden, const char* key, std::size_t size) {
  return golden.contains(key) ? golden[key].get<std::vector<std::int32_t>>() : std::vector<std::int32_t>(size, 0);
}

void expect_golden(const Tokenizer& tokenizer, const Json& golden) {
  for (const Json& one : golden["cases"]) {
    const auto text = one["text"].get<std::string>();
    const auto pair = one.value("pair", std::string());
    SCOPED_TRACE(text + " | " + pair);
    TextPair input{text};
    if (one.contains("pair")) input.pair = pair;
    const Encoding encoding = tokenizer.encode(input, {one.value("special", true), true});
    const std::size_t size = encoding.size();
    EXPECT_EQ(encoding.ids, numbers(one, "ids", size));
    EXPECT_EQ(encoding.type_ids, numbers(one, "type_ids", size));
    std::vector<std::int32_t> offsets, mask;
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < size; ++i) {
      offsets.push_back(encoding.offsets[i].begin);
      offsets.push_back(encoding.offsets[i].end);
      mask.push_back(encoding.special(i));
      tokens.push_back(*tokenizer.token_of(encoding.ids[i]));
    }
    EXPECT_EQ(offsets, numbers(one, "offsets", size));
    EXPECT_EQ(mask, numbers(one, "mask", size));
    EXPECT_EQ(encoding.tokens, one.contains("tokens") ? one["tokens"].get<std::vector<std::string>>() : tokens);
    const auto decoded = one["decoded"].get<std::string>();
    EXPECT_EQ(tokenizer.decode(encoding.ids), decoded);
    EXPECT_EQ(tokenizer.decode(encoding.ids, false), one.value("decoded_all", decoded));
    StreamDecoder stream(tokenizer);
    std::string streamed;
    for (std::int32_t id : encoding.ids) streamed += stream.push(id);
    EXPECT_EQ(streamed + stream.finish(), decoded);
  }
}

TEST_P(TokenizerGolden, EqualsHuggingFaceTokenizers) {
  const Json golden = read_json(GetParam());
  const Tokenizer tokenizer = Tokenizer::parse(to_text(golden["tokenizer"]), GetParam().filename().string());
  expect_golden(tokenizer, golden);
}

TEST_P(TokenizerGolden, WrittenAndReadAgainIsTheSame) {
  const Json golden = read_json(GetParam());
  const Tokenizer tokenizer = Tokenizer::parse(to_text(golden["tokenizer"]), "golden");
  const std::string written = tokenizer.json();
  EXPECT_EQ(nlohmann::json::parse(written), nlohmann::json::parse(to_text(golden["tokenizer"])));
  const Tokenizer again = Tokenizer::parse(written, "written");
  EXPECT_EQ(again.json(), written);
  expect_golden(again, golden);
}

INSTANTIATE_TEST_SUITE_P(Text, TokenizerGolden, testing::ValuesIn(goldens()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace attune
