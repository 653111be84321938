#include "attune/text/unicode.h"

#include <gtest/gtest.h>

#include "attune/text/aligned_text.h"
#include "attune/text/normal_form.h"

namespace attune {
namespace {

TEST(Unicode, NormalForms) {
  EXPECT_EQ(to_normal_form("e\u0301", NormalForm::nfc), "\u00e9");
  EXPECT_EQ(to_normal_form("\u1e69", NormalForm::nfd), "s\u0323\u0307");
  EXPECT_EQ(to_normal_form("s\u0307\u0323", NormalForm::nfc), "\u1e69");  // marks in the other order
  EXPECT_EQ(to_normal_form("\ufb01\u00b2", NormalForm::nfkc), "fi2");
  EXPECT_EQ(to_normal_form("한", NormalForm::nfd), "\u1112\u1161\u11ab");
  EXPECT_EQ(to_normal_form("\u1112\u1161\u11ab", NormalForm::nfc), "한");
  EXPECT_EQ(to_normal_form("\u0344", NormalForm::nfc), "\u0308\u0301");  // excluded from composition
}

TEST(Unicode, BlockedMarksDoNotCompose) {
  EXPECT_EQ(to_normal_form("a\u0315\u0300", NormalForm::nfc), "\u00e0\u0315");   // reordered: 230 before 232
  EXPECT_EQ(to_normal_form("a\u0338\u0300", NormalForm::nfc), "\u00e0\u0338");   // class 1 does not block class 230
  EXPECT_EQ(to_normal_form("a\u030d\u0300", NormalForm::nfc), "a\u030d\u0300");  // the same class does
}

TEST(Unicode, TablesAreThoseOfTheirTime) {
  EXPECT_TRUE(is_old_control(0xAD));
  EXPECT_FALSE(is_old_control(0x378));       // unassigned is not control
  EXPECT_FALSE(is_old_control(0x110CD));     // Cf since Unicode 11
  EXPECT_FALSE(is_old_punctuation(0x2E43));  // since Unicode 9
  EXPECT_TRUE(is_old_punctuation(0x2E42));
  EXPECT_TRUE(is_old_punctuation('$'));
  EXPECT_EQ(to_normal_form("\u32ff", NormalForm::nfkc), "\u32ff");  // the era of 2019
}

TEST(Unicode, CaseAndAccents) {
  EXPECT_EQ(to_lower_case("ÀÉÎ İ ΣΑΣ ẞ"), "àéî i\u0307 σασ ß");
  EXPECT_EQ(strip_accents("Crème Brûlée ṩ"), "Creme Brulee s");
  EXPECT_TRUE(is_cjk_ideograph(U'中'));
  EXPECT_FALSE(is_cjk_ideograph(U'한'));
  EXPECT_FALSE(is_cjk_ideograph(U'ひ'));
}

TEST(AlignedText, ComposedCharacterStandsForAllItWasMadeOf) {
  AlignedText text("xe\u0301y", 10);
  apply_normal_form(text, NormalForm::nfc);
  EXPECT_EQ(text.bytes(), "x\u00e9y");
  EXPECT_EQ(text.origin(1, 3).begin, 11u);
  EXPECT_EQ(text.origin(3, 4).begin, 14u);
  EXPECT_EQ(text.origin(3, 4).end, 15u);
}

TEST(AlignedText, ByteInsideACharacterComesFromAllOfIt) {
  AlignedText text("a\u4e2d", 0);
  EXPECT_EQ(text.origin(2, 3).begin, 1u);
  EXPECT_EQ(text.origin(2, 3).end, 4u);
}

}  // namespace
}  // namespace attune
