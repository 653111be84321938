#include "attune/data/sections.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attune/base/random.h"

namespace attune {
namespace {

std::vector<std::string> texts_of(std::string_view text) {
  std::vector<std::string> texts;
  for (const Section& one : find_sections(text)) texts.emplace_back(text.substr(one.begin, one.end - one.begin));
  return texts;
}

std::vector<std::string> headings_of(std::string_view text) {
  std::vector<std::string> headings;
  for (const Section& one : find_sections(text)) headings.emplace_back(one.heading);
  return headings;
}

TEST(Sections, HeadingsAndBlocksBeginSections) {
  std::string text =
      "Discharge summary\n\nHISTORY:\nChest pain since Monday.\nNo fever at 10:30.\nMedications: aspirin 81 mg\n\n"
      "# Plan\n\nRest and fluids.\n\nReturn if worse.\nFOLLOW-UP CLINIC\nMonday\n";
  EXPECT_EQ(headings_of(text),
            (std::vector<std::string>{"", "HISTORY", "Medications", "Plan", "", "FOLLOW-UP CLINIC"}));
  std::vector<std::string> texts = texts_of(text);
  EXPECT_EQ(texts[1], "HISTORY:\nChest pain since Monday.\nNo fever at 10:30.\n");
  EXPECT_EQ(texts[3], "# Plan\n\nRest and fluids.\n\n") << "a heading keeps the block behind a blank line";
  EXPECT_EQ(texts[4], "Return if worse.\n");
}

TEST(Sections, LinesThatOnlyLookLikeHeadingsAreNot) {
  for (const char* line :
       {"see http://x.org/: there", "at 10:30 in the morning", "he said: no", "Note: 1:2 is fine, he said.", "#hashtag",
        "MRI ok", "The patient who came in on Monday with his wife says: no"})
    EXPECT_LE(find_sections(std::string("First line\n") + line).size(),
              std::string(line).starts_with("Note:") ? 2u : 1u)
        << line;
}

TEST(Sections, CoverTheTextWithoutGaps) {
  RandomStream random(RandomKey{5});
  const std::vector<std::string> parts = {"\n",  "\n\n", " ",    "HISTORY:", "Plan: x", "words here",
                                          "# A", "é",    "\r\n", "ABCD",     ":",       "."};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::int64_t i = random.below(30); i > 0; --i)
      text += parts[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(parts.size())))];
    std::string joined;
    for (const std::string& section : texts_of(text)) joined += section;
    EXPECT_EQ(joined, text);
    std::vector<std::size_t> sentences = find_sentences(text);
    EXPECT_EQ(sentences.empty(), text.empty());
    EXPECT_TRUE(std::ranges::is_sorted(sentences));
    EXPECT_TRUE(sentences.empty() || (sentences.front() == 0 && sentences.back() < text.size()));
  }
  EXPECT_TRUE(find_sections("").empty());
  EXPECT_EQ(texts_of("\n\n"), (std::vector<std::string>{"\n\n"}));
}

TEST(Sections, SentencesBeginBehindTheirMarks) {
  EXPECT_EQ(find_sentences("One. Two!  \"Three?\" 3.5 mg\nfour"), (std::vector<std::size_t>{0, 5, 11, 20, 27}));
  EXPECT_EQ(find_sentences("安静。退院"), (std::vector<std::size_t>{0, 9}));
}

}  // namespace
}  // namespace attune
