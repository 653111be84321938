#include "attune/text/regex.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"
#include "attune/text/pieces.h"
#include "attune/text/pre_tokenizer.h"

namespace attune {
namespace {

std::vector<std::string> matches(const Regex& regex, std::string_view text) {
  std::vector<Span> spans;
  regex.find_all(text, spans);
  std::vector<std::string> result;
  for (const Span& span : spans) result.emplace_back(text.substr(span.begin, span.end - span.begin));
  return result;
}

using Strings = std::vector<std::string>;

TEST(Regex, ClassesAreOniguruma) {
  EXPECT_EQ(matches(Regex(R"(\s)"), "a\u0085\u00a0\u180e\u3000"), (Strings{"\u0085", "\u00a0", "\u3000"}));
  EXPECT_EQ(matches(Regex(R"(\w+)"), "a\u0301_\u203f² \u200d"), (Strings{"a\u0301_\u203f²"}));
  EXPECT_EQ(matches(Regex(R"(\h+)"), "xBEEF g1"), (Strings{"BEEF", "1"}));
  EXPECT_EQ(matches(Regex(R"([^\s\p{L}]+)"), "ab, c.."), (Strings{",", ".."}));
  EXPECT_EQ(matches(Regex(R"(\bfoo\b)"), "foo foobar a\u0301foo"), (Strings{"foo"}));
}

TEST(Regex, SetsInsideSetsAreUnionsAndIntersections) {
  EXPECT_EQ(matches(Regex(R"( ?[^(\s|[.,!?…。，、।۔،])]+)"), "Où (a) b.c，d…"), (Strings{"Où", "a", " b", "c", "d"}));
  EXPECT_EQ(matches(Regex("[a[bc]]+"), "xabcx"), (Strings{"abc"}));
  EXPECT_EQ(matches(Regex("[a-z&&[^aeiou]]+"), "hello"), (Strings{"h", "ll"}));
  EXPECT_EQ(matches(Regex("[^a-z&&[^aeiou]]+"), "hello!"), (Strings{"e", "o!"}));
  EXPECT_EQ(matches(Regex(R"([x[^\w]]+)"), "ax -b"), (Strings{"x -"}));
  EXPECT_EQ(matches(Regex(R"([x\W]+)"), "ax -b"), (Strings{"x -"}));
}

TEST(Regex, IntervalBeforePlusIsRepeated) {
  EXPECT_EQ(matches(Regex(R"(\p{N}{1,3}+)"), "12345 6"), (Strings{"12345", "6"}));
  EXPECT_EQ(matches(Regex(R"((?:ab){2}+c)"), "ababababc"), (Strings{"ababababc"}));
}

TEST(Regex, EmptyMatchNeverFollowsAMatch) {
  EXPECT_EQ(matches(Regex("b*"), "abc"), (Strings{"", "b", ""}));
  EXPECT_EQ(matches(Regex::literal(""), "né"), (Strings{"", "", ""}));
}

TEST(Regex, WhatHasNoEqualIsRefused) {
  for (const char* pattern : {"[[:alpha:]]", "[a&&]", R"(\X)", "(?m:.)", "(", R"(\)", "[", R"(\p{Nope})"})
    EXPECT_THROW(Regex{pattern}, Error) << pattern;
}

TEST(Regex, HandWrittenSplitEqualsThePattern) {
  const Regex pattern(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)");
  const std::string alphabet[] = {"a", "Z", "é",  "1", "²", " ",  " ", "\n",    "\u00a0",
                                  "'", "s", "re", "l", ".", "中", "😀", "\u0301"};
  std::uint32_t state = 1;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525u + 1013904223u;
      text += alphabet[(state >> 16) % std::size(alphabet)];
    }
    Pieces pieces;
    pieces.add({pieces.add_text(AlignedText(text, 0)), 0, static_cast<std::uint32_t>(text.size())});
    pieces.split([&](const Piece& piece) { split_as_gpt2(pieces, piece); });
    Strings split;
    for (const Piece& piece : pieces.list()) split.emplace_back(pieces.bytes(piece));
    ASSERT_EQ(split, matches(pattern, text)) << text;
  }
}

}  // namespace
}  // namespace attune
