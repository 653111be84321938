#include "attune/report/text.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"
#include "attune/report/numbers.h"
#include "attune/report/text_table.h"

namespace attune::report {
namespace {

TEST(Escaped, MarkupBecomesEntities) {
  EXPECT_EQ(escaped("<b a=\"1\">R&D's</b>"), "&lt;b a=&quot;1&quot;&gt;R&amp;D&#39;s&lt;/b&gt;");
}

TEST(Escaped, WhatXmlForbidsBecomesTheReplacementCharacter) {
  EXPECT_EQ(escaped(std::string_view("a\0b\x07"
                                     "c\xff",
                                     6)),
            "a\uFFFDb\uFFFDc\uFFFD");
  EXPECT_EQ(escaped("tab\tline\n"), "tab\tline\n");
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate written in UTF-8
  EXPECT_EQ(escaped("naïve 中 😀"), "naïve 中 😀");
}

TEST(DisplayWidth, WideAndCombiningCharacters) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("中文"), 4);
  EXPECT_EQ(display_width("😀"), 2);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("é"), 1);
  EXPECT_EQ(display_width("\xff\xfe"), 2);
  EXPECT_EQ(display_width(""), 0);
}

TEST(Shortened, NeverWiderThanAskedAndNeverCutsACharacter) {
  EXPECT_EQ(shortened("discharge summary", 17), "discharge summary");
  EXPECT_EQ(shortened("discharge summary", 10), "discharge…");
  EXPECT_EQ(shortened("中文字", 4), "中…");
  EXPECT_EQ(shortened("中文字", 0), "");
}

TEST(AnchorName, IsPlainWhateverTheTitle) {
  EXPECT_EQ(anchor_name("What was routed, and why"), "what-was-routed-and-why");
  EXPECT_EQ(anchor_name("\"><script>"), "script");
  EXPECT_EQ(anchor_name("中"), "section");
}

TEST(Numbers, AsPeopleReadThem) {
  EXPECT_EQ(fixed(0.83149), "0.831");
  EXPECT_EQ(fixed(-0.0001), "0.000");
  EXPECT_EQ(fixed(0.0 / 0.0), "–");
  EXPECT_EQ(percent(0.0213), "2.1 %");
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(with_thousands(-1234), "-1,234");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(range(0.7912, 0.8749, 2), "0.79 to 0.87");
  EXPECT_EQ(short_number(12500), "12.5k");
  EXPECT_EQ(short_number(0.00031), "3.1e-04");
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(2), "2");
  EXPECT_EQ(counted(1, "document"), "1 document");
  EXPECT_EQ(counted(3014, "document"), "3,014 documents");
}

TEST(Table, ColumnsAlignByDisplayWidth) {
  const Table table{.columns = {{"label", Align::left}, {"F1"}}, .rows = {{"中文", "0.5"}, {"referral", "0.95"}}};
  EXPECT_EQ(table.text(),
            "label       F1\n"
            "────────  ────\n"
            "中文       0.5\n"
            "referral  0.95\n");
}

TEST(Table, ALineEndInACellDoesNotBreakTheRow) {
  EXPECT_EQ((Table{.columns = {{"a", Align::left}}, .rows = {{"x\ny"}}}.text()), "a\n────\nx\\ny\n");
  EXPECT_EQ(on_one_line("é\t\x1b[1m\\ \x7f"), "é\\t\\u001b[1m\\ \\u007f");
}

TEST(Table, RaggedRowsAreRefused) { EXPECT_THROW((Table{.columns = {{"a"}, {"b"}}, .rows = {{"1"}}}.text()), Error); }

}  // namespace
}  // namespace attune::report
