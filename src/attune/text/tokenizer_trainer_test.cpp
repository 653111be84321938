#include "attune/text/tokenizer_trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/text/unigram_trainer.h"

namespace attune {
namespace {

Tokenizer train(const TokenizerTraining& training, const std::vector<std::string>& texts) {
  std::size_t next = 0;
  return train_tokenizer(training, [&](std::string& text) {
    if (next == texts.size()) return false;
    text = texts[next++];
    return true;
  });
}

TEST(TokenizerTraining, MostFrequentPairFirstThenLowerIds) {
  const Tokenizer tokenizer = train({.vocab_size = 260, .min_frequency = 0}, {"abab abab", "cd cd xy"});
  const auto merges = nlohmann::json::parse(tokenizer.json())["model"]["merges"];
  // "ab" 4 times, then "abab" twice before "cd" (twice: higher ids are new ones, so "c d" has the lower pair)
  EXPECT_EQ(merges[0], nlohmann::json({"a", "b"}));
  EXPECT_EQ(merges[1], nlohmann::json({"c", "d"}));
  EXPECT_EQ(merges[2], nlohmann::json({"ab", "ab"}));
}

TEST(TokenizerTraining, SameTextsGiveTheSameFile) {
  const std::vector<std::string> texts = {"the cat sat on the mat", "the Größe of 中文 mats", "sat mat cat bat"};
  std::vector<std::string> backwards(texts.rbegin(), texts.rend());
  for (TokenizerKind kind : {TokenizerKind::byte_level_bpe, TokenizerKind::word_piece, TokenizerKind::unigram}) {
    const TokenizerTraining training{.kind = kind, .vocab_size = 280, .min_frequency = 1};
    EXPECT_EQ(train(training, texts).json(), train(training, texts).json());
    EXPECT_EQ(train(training, texts).json(), train(training, backwards).json());
  }
}

TEST(TokenizerTraining, BytesRoundTripWhateverTheTraining) {
  const Tokenizer tokenizer = train({.vocab_size = 300}, {"only English here, only English"});
  for (const char* text : {"", " ", "中文 😀\n\tnew", "only  English"})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text).ids), text);
  EXPECT_EQ(tokenizer.id_of("<|endoftext|>"), 0);
}

TEST(TokenizerTraining, WordPieceCoversItsAlphabet) {
  const Tokenizer tokenizer = train({.kind = TokenizerKind::word_piece, .vocab_size = 60, .min_frequency = 1},
                                    {"low lower lowest", "new newer newest", "Élan"});
  const Encoding encoding = tokenizer.encode("Lowest stew", {.tokens = true});
  EXPECT_EQ(encoding.tokens.front(), "[CLS]");
  EXPECT_EQ(encoding.tokens.back(), "[SEP]");
  EXPECT_EQ(tokenizer.decode(encoding.ids), "lowest stew");
  EXPECT_EQ(tokenizer.encode("q", {.add_special_tokens = false}).ids,
            std::vector<std::int32_t>{*tokenizer.id_of("[UNK]")});
  EXPECT_LE(tokenizer.size(), 60);
}

TEST(TokenizerTraining, TokensAroundTheText) {
  const Tokenizer tokenizer =
      train({.vocab_size = 300, .special_tokens = {"<pad>", "</s>"}, .end_token = "</s>"}, {"a text"});
  const Encoding encoding = tokenizer.encode("a");
  EXPECT_EQ(encoding.ids.back(), 1);
  EXPECT_EQ(encoding.size(), 2u);
}

TEST(TokenizerTraining, UnigramKeepsAllCharactersAndWhatRepeats) {
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i)
    texts.push_back("discharge discharged recharge furosemide furosemide zebra" + std::to_string(i));
  const Tokenizer tokenizer = train({.kind = TokenizerKind::unigram, .vocab_size = 60}, texts);
  EXPECT_LE(tokenizer.size(), 60);
  EXPECT_EQ(tokenizer.id_of("<unk>"), 2);
  for (const char* character : {"d", "z", "0", "9", "\u2581"}) EXPECT_TRUE(tokenizer.id_of(character)) << character;
  EXPECT_EQ(tokenizer.encode("furosemide").size(), 1u);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("recharge zebra7").ids), "recharge zebra7");
  EXPECT_EQ(tokenizer.encode("\u4e2d", {.add_special_tokens = false}).ids.back(), 2);
}

TEST(UnigramTraining, FewerTokensOfTheMoreLikelyText) {
  // Of "ab" and "ba", equally long and frequent as strings, the better cut of "abab..." is the one that covers words.
  const std::vector<ScoredToken> tokens = train_unigram({{"ab", 50}, {"abab", 20}, {"c", 5}}, {.vocab_size = 4}, {});
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0].text, "ab");
  double sum = 0;
  for (const ScoredToken& token : tokens) sum += std::exp(token.score);
  EXPECT_NEAR(sum, 1, 0.25);  // the prior takes a part
}

TEST(UnigramTraining, SeedsAreWhatBranchesOrRepeats) {
  const std::vector<ScoredToken> seeds = unigram_seeds({{"abcd", 3}, {"abx", 2}, {"q", 1}}, {});
  std::map<std::string, double> scores;
  for (const ScoredToken& seed : seeds) scores[seed.text] = seed.score;
  EXPECT_TRUE(scores.count("ab"));    // before c and x
  EXPECT_TRUE(scores.count("abcd"));  // a word that comes three times
  EXPECT_TRUE(scores.count("bcd"));
  EXPECT_FALSE(scores.count("abc"));  // always abcd
  EXPECT_NEAR(scores["ab"] - scores["abx"], std::log(10.0 / 6.0), 1e-12);
}

TEST(TokenizerTraining, WhatCanNotWorkIsAnError) {
  const auto error_of = [](const TokenizerTraining& training, const std::vector<std::string>& texts) -> std::string {
    try {
      train(training, texts);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(error_of({.vocab_size = 200}, {"a"}).find("vocab_size is 200"), std::string::npos);
  EXPECT_NE(error_of({.kind = TokenizerKind::unigram, .vocab_size = 8}, {"abcdefgh"}).find("alphabet alone are 12"),
            std::string::npos);
  EXPECT_NE(error_of({.kind = TokenizerKind::unigram, .special_tokens = {"<pad>"}}, {"a"}).find("<unk>"),
            std::string::npos);
  EXPECT_NE(error_of({}, {}).find("0 texts hold no word"), std::string::npos);
  EXPECT_NE(error_of({}, {"a", "b\xFF"}).find("text 1: byte 1"), std::string::npos);
  EXPECT_NE(error_of({.special_tokens = {"a", "a"}}, {"a"}).find("given twice"), std::string::npos);
  EXPECT_NE(error_of({.kind = TokenizerKind::word_piece, .special_tokens = {"[PAD]"}}, {"a"}).find("[UNK]"),
            std::string::npos);
}

}  // namespace
}  // namespace attune
