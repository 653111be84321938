#include "attune/text/utf8.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"

namespace attune {
namespace {

TEST(Utf8, FirstInvalidByteIsNamed) {
  EXPECT_EQ(find_invalid_utf8("abc é 中 😀"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("0123456789\xFF"), 10u);
  EXPECT_EQ(find_invalid_utf8("a\x80"), 1u);
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0u);              // overlong
  EXPECT_EQ(find_invalid_utf8("a\xC1\xBF"), 1u);             // overlong
  EXPECT_EQ(find_invalid_utf8("a\xE0\x80\x80"), 1u);         // overlong
  EXPECT_EQ(find_invalid_utf8("a\xF0\x80\x80\x80"), 1u);     // overlong
  EXPECT_EQ(find_invalid_utf8("a\xF5\x80\x80\x80"), 1u);     // begins nothing
  EXPECT_EQ(find_invalid_utf8("ab\xC3("), 2u);               // followed by no continuation
  EXPECT_EQ(find_invalid_utf8("x\xED\xA0\x80"), 1u);         // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);      // beyond U+10FFFF
  EXPECT_EQ(find_invalid_utf8("ab\xE4\xB8"), 2u);            // cut
  EXPECT_EQ(find_invalid_utf8("\xF0\x9F\x98\x80\xE4"), 4u);  // cut after a whole one
  try {
    check_utf8("ab\xE4\xB8", "reading notes.txt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "reading notes.txt: byte 2 (0xE4) is not valid UTF-8; convert the text to UTF-8 first");
  }
}

TEST(Utf8, EveryCodePointSurvives) {
  std::string text;
  for (char32_t point = 0; point < 0x110000; point += point < 0x3000 ? 1 : 7)
    if (point < 0xD800 || point > 0xDFFF) append_utf8(text, point);
  ASSERT_EQ(find_invalid_utf8(text), std::nullopt);
  std::size_t at = 0, count = 0;
  for (char32_t point = 0; point < 0x110000; point += point < 0x3000 ? 1 : 7) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    std::size_t back;
    ASSERT_EQ(next_code_point(text, at), point);
    ASSERT_EQ(previous_code_point(text, back = at), point);
    ++count;
  }
  EXPECT_EQ(code_points(text), count);
}

TEST(Utf8, InvalidPartsBecomeOneReplacementEach) {
  EXPECT_EQ(replace_invalid_utf8("a\xE4\xB8"
                                 "b"),
            "a\xEF\xBF\xBD"
            "b");                                                           // one maximal part
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // no sequence begins so
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(replace_invalid_utf8("\xF0\x9F\x98"), "\xEF\xBF\xBD");
}

TEST(Utf8, CompleteLengthStopsBeforeAHalfCharacter) {
  EXPECT_EQ(complete_utf8_length("ab"), 2u);
  EXPECT_EQ(complete_utf8_length("a\xF0\x9F\x98"), 1u);
  EXPECT_EQ(complete_utf8_length("a\xF0\x9F\x98\x80"), 5u);
  EXPECT_EQ(complete_utf8_length("a\x80\x80"), 3u);  // nothing will complete these
}

TEST(Utf8, ARangeCountsCodePoints) {
  EXPECT_EQ(code_point_range("a\u00e9\u20acb", 1, 3), "\u00e9\u20ac");
  EXPECT_EQ(code_point_range("abc", 0, 9), "abc");
  EXPECT_EQ(code_point_range("abc", 3, 9), "");
  EXPECT_EQ(code_point_range("abc", 2, 2), "");
}

}  // namespace
}  // namespace attune
