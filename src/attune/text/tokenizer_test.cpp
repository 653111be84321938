#include "attune/text/tokenizer.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/base/threads.h"

namespace attune {
namespace {

Path golden(const std::string& name) { return Path(ATTUNE_GOLDEN_DIR) / "text" / (name + ".json"); }
Json golden_file(const std::string& name) { return read_json(golden(name))["tokenizer"]; }
Tokenizer golden_tokenizer(const std::string& name) { return Tokenizer::parse(to_text(golden_file(name)), name); }

std::string error_of(const Json& file) {
  try {
    Tokenizer::parse(to_text(file), "tokenizer.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Tokenizer, InvalidUtf8IsRefusedWithItsPosition) {
  const Tokenizer tokenizer = golden_tokenizer("gpt2");
  try {
    tokenizer.encode("abc\xFF");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "encoding a text: byte 3 (0xFF) is not valid UTF-8; convert the text to UTF-8 first");
  }
  const TextPair inputs[] = {{"fine"}, {"\xED\xA0\x80"}};
  try {
    tokenizer.encode_batch(inputs);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("text 1: byte 0 (0xED)")) << error.what();
  }
}

TEST(Tokenizer, BatchGivesWhatSinglesGiveWhateverTheThreads) {
  for (const char* name : {"bert_lower", "roberta"}) {
    const Tokenizer tokenizer = golden_tokenizer(name);
    std::vector<std::string> texts;
    for (int i = 0; i < 200; ++i) texts.push_back("text " + std::to_string(i * i) + " é中 lower wider <mask> it's");
    std::vector<TextPair> inputs;
    for (const std::string& text : texts) inputs.push_back({text});
    for (int threads : {1, 3}) {
      set_num_threads(threads);
      const std::vector<Encoding> batch = tokenizer.encode_batch(inputs);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const Encoding one = tokenizer.encode(texts[i]);
        ASSERT_EQ(batch[i].ids, one.ids);
        ASSERT_EQ(batch[i].offsets, one.offsets);
      }
    }
    set_num_threads(1);
  }
}

TEST(Tokenizer, LongWordsJoinAsShortOnesDo) {
  const Tokenizer tokenizer = golden_tokenizer("gpt2");
  std::string text;
  for (int i = 0; i < 12500; ++i) text += "lowerwid";  // 100 kB without a space: joined through the queue
  const Encoding encoding = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(encoding.ids), text);
  const Encoding part = tokenizer.encode(text.substr(0, 40));  // short enough to be joined by search
  for (std::size_t i = 0; i + 2 < part.size(); ++i) EXPECT_EQ(encoding.ids[i], part.ids[i]);
}

TEST(Tokenizer, StreamNeverEndsInsideACharacter) {
  const Tokenizer tokenizer = golden_tokenizer("gpt2");
  const std::string text = "naïve 中文 😀👍🏽 it's";
  StreamDecoder stream(tokenizer);
  std::string all;
  int held = 0;
  for (std::int32_t id : tokenizer.encode(text).ids) {
    const std::string part = stream.push(id);
    EXPECT_EQ(part.find("\xEF\xBF\xBD"), std::string::npos);
    held += part.empty();
    all += part;
  }
  EXPECT_EQ(all, text);
  EXPECT_GT(held, 3);
  EXPECT_EQ(stream.finish(), "");
  StreamDecoder cut(tokenizer);
  EXPECT_EQ(cut.push(*tokenizer.id_of("\u00f0")), "");  // the first byte of an emoji, and no more
  EXPECT_EQ(cut.finish(), "\xEF\xBF\xBD");
}

TEST(StreamDecoder, GivesEachCharacterOfByteTokensOnceItIsWhole) {
  const Tokenizer tokenizer = golden_tokenizer("byte_fallback");
  const auto byte = [&](const char* name) { return *tokenizer.id_of(name); };
  StreamDecoder stream(tokenizer, false);  // bytes are special tokens there
  EXPECT_EQ(stream.push(byte("<0xC3>")), "");
  EXPECT_EQ(stream.push(byte("<0xA9>")), "\u00e9");
  EXPECT_EQ(stream.push(byte("<0xF0>")), "");
  EXPECT_EQ(stream.push(byte("<0x9F>")), "");
  EXPECT_EQ(stream.push(byte("<0x98>")), "");
  EXPECT_EQ(stream.push(byte("<0x80>")), "\U0001F600");
  EXPECT_EQ(stream.push(byte("<0xE4>")), "");
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD");  // what was given stays, the rest is damaged
}

TEST(StreamDecoder, DamagedOrRepeatedTokensDoNotPileUp) {
  const Tokenizer bytes = golden_tokenizer("byte_fallback"), letters = golden_tokenizer("ctc");
  StreamDecoder damaged(bytes, false), repeated(letters);
  std::size_t given = 0;
  for (int i = 0; i < 20000; ++i) given += damaged.push(*bytes.id_of("<0x80>")).size();
  EXPECT_GT(given, 3u * 19000);
  std::string text;
  for (int i = 0; i < 20000; ++i) text += repeated.push(*letters.id_of("l"));
  EXPECT_EQ(text + repeated.push(*letters.id_of("o")) + repeated.finish(), "lo");
}

TEST(Tokenizer, ScoresAreWrittenAsTheyWereRead) {
  const Tokenizer tokenizer = Tokenizer::parse(
      R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["u", -0.0], ["a", -7.2489788628112795], ["b", 1e-300]]}})",
      "scores");
  EXPECT_NE(tokenizer.json().find(R"([["u",-0.0],["a",-7.2489788628112795],["b",1e-300]])"), std::string::npos);
  EXPECT_EQ(Tokenizer::parse(tokenizer.json(), "again").json(), tokenizer.json());
}

TEST(Tokenizer, LoneSurrogatesAreRefused) {
  const Tokenizer tokenizer = golden_tokenizer("unigram");
  EXPECT_THROW(tokenizer.encode("a\xED\xA0\x80"), Error);
  EXPECT_THROW(tokenizer.encode("\xED\xBF\xBF"), Error);
  EXPECT_THROW(
      Tokenizer::parse(R"({"model": {"type": "WordLevel", "vocab": {"\ud800": 0}, "unk_token": "x"}})", "lone"), Error);
}

TEST(Tokenizer, TruncationAndPaddingAreKeptAndNotApplied) {
  Json file = golden_file("bert_lower");
  file["truncation"] = Json::parse(R"({"direction":"Right","max_length":4,"strategy":"LongestFirst","stride":0})");
  file["padding"] = Json::parse(
      R"({"strategy":{"Fixed":128},"direction":"Right","pad_to_multiple_of":null,"pad_id":0,"pad_type_id":0,"pad_token":"[PAD]"})");
  const Tokenizer tokenizer = Tokenizer::parse(to_text(file), "file");
  const std::size_t size = tokenizer.encode("low lower lowest new newer newest").size();
  EXPECT_GT(size, 4u);
  EXPECT_LT(size, 128u);
  const auto written = nlohmann::json::parse(tokenizer.json());
  EXPECT_EQ(written["truncation"], nlohmann::json::parse(to_text(file["truncation"])));
  EXPECT_EQ(written["padding"], nlohmann::json::parse(to_text(file["padding"])));
}

TEST(Tokenizer, MergesAreReadInBothSpellings) {
  Json file = golden_file("gpt2");
  for (Json& merge : file["model"]["merges"]) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  const Tokenizer old = Tokenizer::parse(to_text(file), "old");
  EXPECT_EQ(old.json(), golden_tokenizer("gpt2").json());
}

TEST(TokenizerFile, WhatIsNotSupportedIsNamedWithItsPath) {
  const auto with = [](const char* pointer, Json value) {
    Json file = golden_file("bert_lower");
    file[Json::json_pointer(pointer)] = std::move(value);
    return error_of(file);
  };
  EXPECT_EQ(with("/normalizer/type", "Nme").substr(0, 63),
            "tokenizer.json: normalizer: the normalizer \"Nme\" is not support");
  EXPECT_EQ(
      with("/model/type", "Bigram"),
      "tokenizer.json: model: the model \"Bigram\" is not supported: expected BPE, WordPiece, Unigram or WordLevel");
  EXPECT_EQ(with("/normalizer/lowercas", true),
            "tokenizer.json: normalizer: has \"lowercas\", which Attune does not know; did you mean \"lowercase\"?");
  EXPECT_EQ(with("/version", "2.0"), "tokenizer.json: version: is \"2.0\": expected \"1.0\"");
  EXPECT_EQ(with("/model/vocab/[UNK]", -1),
            "tokenizer.json: model.vocab: the id of \"[UNK]\" is -1: expected a whole number from 0");
  EXPECT_EQ(with("/model/vocab/[UNK]", 0), "tokenizer.json: model.vocab: \"[PAD]\" and \"[UNK]\" have the same id 0");
  EXPECT_NE(with("/model/vocab/[UNK]", 1 << 30).find("in a vocabulary of"), std::string::npos);
  EXPECT_EQ(with("/added_tokens/1/id", 77),
            "tokenizer.json: added_tokens[1].id: \"[UNK]\" has the id 77, but the model's vocabulary gives it 1");
  EXPECT_EQ(with("/post_processor/single/0/SpecialToken/id", "<s>"),
            "tokenizer.json: post_processor.single[0].SpecialToken.id: \"<s>\" is not among special_tokens");
  EXPECT_EQ(with("/model/max_input_chars_per_word", "x"),
            "tokenizer.json: model.max_input_chars_per_word: expected a whole number, found a string");
  Json bpe = golden_file("gpt2");
  bpe["model"]["dropout"] = 0.1;
  EXPECT_EQ(error_of(bpe), "tokenizer.json: model.dropout: BPE dropout is not supported: set it to null");
  bpe["model"]["dropout"] = nullptr;
  bpe["model"]["merges"].push_back("no_space");
  EXPECT_NE(error_of(bpe).find("expected two tokens with one space between"), std::string::npos);
  bpe["model"]["merges"].back() = {"zz", "e"};
  EXPECT_NE(error_of(bpe).find("\"zz\" is not in the vocabulary"), std::string::npos);
}

TEST(TokenizerFile, CutAtAnyPlaceIsOneError) {
  const std::string whole = golden_tokenizer("affixes").json();
  for (std::size_t size = 0; size < whole.size(); size += 97)
    EXPECT_THROW(Tokenizer::parse(whole.substr(0, size), "cut"), Error) << size;
}

TEST(TokenizerFile, DeepNestingIsAnError) {
  std::string inner = R"({"type":"Sequence","normalizers":[]})";
  for (int i = 0; i < 300; ++i) inner = R"({"type":"Sequence","normalizers":[)" + inner + "]}";
  EXPECT_THROW(Tokenizer::parse(R"({"version":"1.0","normalizer":)" + inner +
                                    R"(,"model":{"type":"WordLevel","vocab":{},"unk_token":""}})",
                                "deep"),
               Error);
}

class TokenizerDirectory : public testing::Test {
 protected:
  Path directory_ = Path(testing::TempDir()) / ("tokenizer_directory_" + std::to_string(::getpid()));
  void SetUp() override { make_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
};

TEST_F(TokenizerDirectory, BertVocabularyEqualsItsTokenizerFile) {
  const Tokenizer tokenizer = golden_tokenizer("bert_lower");
  std::string lines;
  for (std::int32_t id = 0; id < tokenizer.limit(); ++id) lines += *tokenizer.token_of(id) + "\n";
  write_file_atomically(directory_ / "vocab.txt", lines);
  const char* text = "Größe 中文 widest [MASK] unhappy";
  EXPECT_EQ(Tokenizer::open(directory_).encode(text).ids, tokenizer.encode(text).ids);
  write_file_atomically(directory_ / "tokenizer_config.json",
                        R"({"do_lower_case": false, "cls_token": {"content": "[PAD]"}})");
  const Tokenizer cased = Tokenizer::open(directory_);
  EXPECT_EQ(cased.encode("x").ids[0], 0);
  EXPECT_EQ(cased.encode("LOW").ids[1], *cased.id_of("[UNK]"));  // the vocabulary has no upper case
}

TEST_F(TokenizerDirectory, Gpt2AndRobertaVocabulariesEqualTheirTokenizerFiles) {
  for (const char* name : {"gpt2", "roberta"}) {
    Json file = golden_file(name);
    std::string merges = "#version: 0.2\n";
    for (const Json& merge : file["model"]["merges"])
      merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
    write_file_atomically(directory_ / "merges.txt", merges);
    write_file_atomically(directory_ / "vocab.json", to_text(file["model"]["vocab"]));
    const bool roberta = std::string(name) == "roberta";
    write_file_atomically(directory_ / "tokenizer_config.json",
                          roberta ? R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true})"
                                  : R"({"tokenizer_class": "GPT2Tokenizer"})");
    const std::string text = "Wider naïve 中文 they'll unhappy";
    const Encoding read = Tokenizer::open(directory_).encode(text), expected = golden_tokenizer(name).encode(text);
    EXPECT_EQ(read.ids, expected.ids);
    EXPECT_EQ(read.offsets, expected.offsets);
  }
}

TEST_F(TokenizerDirectory, EmptyDirectorySaysWhatWasLookedFor) {
  try {
    Tokenizer::open(directory_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("found neither tokenizer.json, nor tokenizer.model"), std::string::npos);
  }
}

}  // namespace
}  // namespace attune
