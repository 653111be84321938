// Published directories without a tokenizer.json give transformers' ids: tests/golden/sentencepiece_directories
// (written by tools/golden/sentencepiece_directories.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "attune/base/error.h"
#include "attune/base/json_values.h"
#include "attune/text/tokenizer.h"

namespace attune {
namespace {

using Ids = std::vector<std::int32_t>;

std::vector<Path> goldens() {
  std::vector<Path> found;
  for (const char* files : {"sentencepiece_directories", "vocabulary_directories"})
    for (const auto& entry : std::filesystem::directory_iterator(Path(ATTUNE_GOLDEN_DIR) / files))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

void expect_ids(const Tokenizer& tokenizer, const Json& cases) {
  ASSERT_GT(cases.size(), 30u);
  for (const Json& one : cases) {
    const auto text = one["text"].get<std::string>();
    SCOPED_TRACE(text);
    TextPair input{.text = text};
    std::string pair;
    if (one["pair"].is_string()) input.pair = pair = one["pair"].get<std::string>();
    const Encoding encoding = tokenizer.encode(input);
    EXPECT_EQ(encoding.ids, one["ids"].get<Ids>());
    EXPECT_EQ(tokenizer.decode(encoding.ids), one["decoded"].get<std::string>());
  }
}

class PublishedTokenizer : public testing::TestWithParam<Path> {};

TEST_P(PublishedTokenizer, GivesTransformersIdsAndStaysSoWhenSaved) {
  const Json cases = read_json(GetParam() / "expected.json")["cases"];
  const Tokenizer tokenizer = Tokenizer::open(GetParam());
  expect_ids(tokenizer, cases);
  const Path copy = Path(testing::TempDir()) / ("saved-" + GetParam().filename().string());
  std::filesystem::remove_all(copy);
  make_directories(copy);
  tokenizer.save_in(copy);
  expect_ids(Tokenizer::open(copy), cases);
}

INSTANTIATE_TEST_SUITE_P(Classes, PublishedTokenizer, testing::ValuesIn(goldens()),
                         [](const auto& info) { return info.param.filename().string(); });

TEST(PublishedTokenizerDirectory, AClassThatIsNotKnownIsNamedWithWhatToDo) {
  const Path directory = Path(testing::TempDir()) / "nllb";
  std::filesystem::remove_all(directory);
  make_directories(directory);
  std::filesystem::copy_file(Path(ATTUNE_GOLDEN_DIR) / "sentencepiece_directories/AlbertTokenizer/spiece.model",
                             directory / "sentencepiece.bpe.model");
  write_file_atomically(directory / "tokenizer_config.json", R"({"tokenizer_class": "NllbTokenizer"})");
  try {
    Tokenizer::open(directory);
    FAIL() << "it opened";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("NllbTokenizer"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("save the tokenizer with transformers"), std::string::npos);
  }
}

}  // namespace
}  // namespace attune
