// The `sentencepiece` package and Attune agree on every golden in tests/golden/sentencepiece (written by
// tools/golden/sentencepiece_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/text/charsmap.h"
#include "attune/text/sentencepiece_directory.h"
#include "attune/text/sentencepiece_file.h"

namespace attune {
namespace {

using Ids = std::vector<std::int32_t>;

Path golden_directory() { return Path(ATTUNE_GOLDEN_DIR) / "sentencepiece"; }

std::vector<Path> goldens() {
  std::vector<Path> files;
  for (const auto& entry : std::filesystem::directory_iterator(golden_directory())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string model_in(const std::string& golden) {
  return decode_base64(read_json(golden_directory() / (golden + ".json"))["model"].get<std::string>());
}

Path new_directory(const char* name) {
  const Path directory = Path(testing::TempDir()) / name;
  std::filesystem::remove_all(directory);
  make_directories(directory);
  return directory;
}

class SentencePieceGolden : public testing::TestWithParam<Path> {};

TEST_P(SentencePieceGolden, EqualsThePackage) {
  const Json golden = read_json(GetParam());
  const Tokenizer tokenizer = parse_sentencepiece(decode_base64(golden["model"].get<std::string>()), "golden");
  for (const Json& one : golden["cases"]) {
    const auto text = one["text"].get<std::string>();
    SCOPED_TRACE(text);
    const Encoding encoding = tokenizer.encode(text);
    EXPECT_EQ(encoding.ids, one["ids"].get<Ids>());
    Ids offsets;
    for (const TextRange& range : encoding.offsets) offsets.insert(offsets.end(), {range.begin, range.end});
    EXPECT_EQ(offsets, one["offsets"].get<Ids>());
    EXPECT_EQ(tokenizer.decode(encoding.ids), one["decoded"].get<std::string>());
    StreamDecoder stream(tokenizer);
    std::string streamed;
    for (std::int32_t id : encoding.ids) streamed += stream.push(id);
    if (!golden.value("denormalized", false)) {
      EXPECT_EQ(streamed + stream.finish(), one["decoded"].get<std::string>());
    }
  }
  for (const Json& one : golden["decodings"])
    EXPECT_EQ(tokenizer.decode(one["ids"].get<Ids>()), one["decoded"].get<std::string>());
}

TEST_P(SentencePieceGolden, IsWrittenWithTheSameBytes) {
  const std::string bytes = decode_base64(read_json(GetParam())["model"].get<std::string>());
  EXPECT_EQ(SentencePieceFile::read(bytes, "golden").write(), bytes);
}

TEST_P(SentencePieceGolden, CutAnywhereIsRefusedOrShorter) {
  const std::string bytes = decode_base64(read_json(GetParam())["model"].get<std::string>());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 97) {
    try {
      EXPECT_LE(SentencePieceFile::read(bytes.substr(0, size), "cut").write().size(), size + 4);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("cut"), std::string::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Text, SentencePieceGolden, testing::ValuesIn(goldens()),
                         [](const auto& info) { return info.param.stem().string(); });

std::string error_of(const std::string& bytes) {
  try {
    parse_sentencepiece(bytes, "m");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string model_of(const std::vector<SentencePiece>& pieces) {
  SentencePieceFile file;
  file.pieces = pieces;
  return file.write();
}

TEST(SentencePieceFile, WhatThePackageRefusesIsAnError) {
  using Type = SentencePiece::Type;
  const SentencePiece unknown{"<unk>", 0, Type::unknown}, a{"a", -1};
  EXPECT_EQ(error_of(model_of({unknown, a})), "no error");
  EXPECT_NE(error_of("").find("holds no pieces"), std::string::npos);
  EXPECT_NE(error_of(model_of({a})).find("0 unknown pieces"), std::string::npos);
  EXPECT_NE(error_of(model_of({unknown, a, a})).find("\"a\" stands there twice"), std::string::npos);
  EXPECT_NE(error_of(model_of({unknown, {"", 0}})).find("piece 1: is empty"), std::string::npos);
  EXPECT_NE(error_of(model_of({unknown, {"\xFF", 0}})).find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of(model_of({unknown, {"<0x41>", 0, Type::byte}})).find("byte_fallback is false"), std::string::npos);
  EXPECT_NE(error_of(std::string("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11)).find("bytes, but"),
            std::string::npos);
  EXPECT_NE(error_of(std::string("\x0B", 1)).find("wire type 3"), std::string::npos);
}

TEST(SentencePieceDirectory, T5EndsTextsAndHasSentinels) {
  const Path directory = new_directory("t5");
  write_file_atomically(directory / "spiece.model", model_in("unigram"));
  write_file_atomically(directory / "config.json", R"({"model_type": "t5"})");
  const Tokenizer tokenizer = Tokenizer::open(directory);
  const Tokenizer bare = parse_sentencepiece(model_in("unigram"), "m");
  Ids expected = bare.encode("low lower").ids;
  expected.push_back(*bare.id_of("</s>"));
  EXPECT_EQ(tokenizer.encode("low lower").ids, expected);
  EXPECT_EQ(tokenizer.id_of("<extra_id_0>"), bare.size() + 99);
  EXPECT_EQ(tokenizer.encode("<extra_id_99>", {.add_special_tokens = false}).ids, Ids{bare.size()});
}

TEST(SentencePieceDirectory, LlamaBeginsTextsUnlessToldOtherwise) {
  const Path directory = new_directory("llama");
  write_file_atomically(directory / "tokenizer.model", model_in("bpe_bytes"));
  write_file_atomically(directory / "tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizerFast"})");
  const Tokenizer tokenizer = Tokenizer::open(directory);
  EXPECT_EQ(tokenizer.encode("a").ids.front(), *tokenizer.id_of("<s>"));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a  \xF0\x9F\x98\x80 b").ids), "a  \xF0\x9F\x98\x80 b");
  const Path copy = new_directory("llama-copy");
  tokenizer.save_in(copy);
  EXPECT_EQ(Tokenizer::open(copy).encode("low lower").ids, tokenizer.encode("low lower").ids);
  write_file_atomically(directory / "tokenizer_config.json",
                        R"({"tokenizer_class": "LlamaTokenizer", "add_bos_token": false, "add_eos_token": true})");
  EXPECT_EQ(Tokenizer::open(directory).encode("a").ids.back(), *tokenizer.id_of("</s>"));
  write_file_atomically(directory / "tokenizer_config.json", R"({"tokenizer_class": "XLNetTokenizer"})");
  EXPECT_THROW(Tokenizer::open(directory), Error);
}

TEST(SentencePieceDirectory, MarianTakesIdsFromTheSharedVocabulary) {
  const Path directory = new_directory("marian");
  write_file_atomically(directory / "source.spm", model_in("unigram"));
  write_file_atomically(directory / "target.spm", model_in("bpe"));
  write_file_atomically(directory / "config.json", R"({"model_type": "marian"})");
  const SentencePieceFile pieces = SentencePieceFile::read(model_in("unigram"), "m");
  Json vocabulary = {{"</s>", 0}, {"<unk>", 1}, {"ツ", 2}, {">>fra<<", 3}};
  for (std::size_t i = 3; i < pieces.pieces.size(); ++i)
    if (!vocabulary.contains(pieces.pieces[i].text)) vocabulary[pieces.pieces[i].text] = vocabulary.size();
  vocabulary["<pad>"] = vocabulary.size();
  write_file_atomically(directory / "vocab.json", to_text(vocabulary));
  const Tokenizer tokenizer = Tokenizer::open(directory);
  const Encoding encoding = tokenizer.encode(">>fra<< low ツ", {.tokens = true});
  EXPECT_EQ(encoding.ids.front(), 3);
  EXPECT_EQ(encoding.ids[encoding.size() - 2], 2);  // no piece of the source, but a token
  EXPECT_EQ(encoding.ids.back(), 0);
  EXPECT_EQ(tokenizer.decode(std::span(encoding.ids).subspan(1)), "low ツ");
  EXPECT_EQ(tokenizer.decode(encoding.ids), ">>fra<< low ツ");  // choosing a language is not special in transformers
}

}  // namespace
}  // namespace attune
