#include "attune/text/unicode.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>

#include <string>

#include "attune/base/error.h"
#include "attune/text/aligned_text.h"
#include "attune/text/normal_form.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

constexpr UChar32 code(char32_t point) { return static_cast<UChar32>(point); }

/// True where the character was assigned in Unicode MAJOR.0.
bool known_in(char32_t point, int major) {
  UVersionInfo age;
  u_charAge(code(point), age);
  return age[0] > 0 && (age[0] < major || (age[0] == major && age[1] == 0));
}

std::uint32_t category_mask(char32_t point) { return U_MASK(u_charType(code(point))); }

const UNormalizer2* instance(bool compatible) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2* found = compatible ? unorm2_getNFKDInstance(&status) : unorm2_getNFDInstance(&status);
  check(U_SUCCESS(status), "Unicode: ICU has no normalisation data ({})", u_errorName(status));
  return found;
}

}  // namespace

bool is_white_space(char32_t point) {
  if (point < 0x80) return point == ' ' || (point >= 9 && point <= 13);
  return u_isUWhiteSpace(code(point));
}

bool is_letter(char32_t point) { return category_mask(point) & U_GC_L_MASK; }
bool is_number(char32_t point) { return category_mask(point) & U_GC_N_MASK; }

bool is_word_character(char32_t point) {
  if (point < 0x80)
    return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') || (point >= '0' && point <= '9') ||
           point == '_';
  return (category_mask(point) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) || u_isUAlphabetic(code(point)) ||
         u_hasBinaryProperty(code(point), UCHAR_JOIN_CONTROL);
}

bool is_old_control(char32_t point) {
  return (category_mask(point) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) && known_in(point, 8);
}

bool is_old_punctuation(char32_t point) {
  if (point < 0x80)
    return (point >= 33 && point <= 47) || (point >= 58 && point <= 64) || (point >= 91 && point <= 96) ||
           (point >= 123 && point <= 126);
  if (point == 0x166D || point == 0x111C9) return true;  // Po until Unicode 12 and 11
  return (category_mask(point) & U_GC_P_MASK) && known_in(point, 8);
}

int old_script(char32_t point) {
  if (point == ' ' || !known_in(point, 9)) return 0;
  if (point == 0x589 || point == 0x61C) return 1 + USCRIPT_COMMON;      // since then Armenian, Arabic
  if (point == 0x953 || point == 0x954) return 1 + USCRIPT_DEVANAGARI;  // since then inherited
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(code(point), &status);
  if (script == USCRIPT_UNKNOWN) return 0;
  const bool kana = script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA || point == 0x30FC;
  return 1 + (kana ? USCRIPT_HAN : script);  // USCRIPT_COMMON is 0
}

bool is_old_nonspacing_mark(char32_t point) {
  if (point < 0x300) return false;
  switch (point) {
    case 0x1734:
      return true;  // Mn until Unicode 14
    case 0x1885:
    case 0x1886:
    case 0xA9BD:
    case 0x111C9:
      return false;  // became Mn later
    default:
      return (category_mask(point) & U_GC_MN_MASK) && known_in(point, 8);
  }
}

bool is_old_mark(char32_t point) {
  if (point < 0x300) return false;
  if (point == 0x1CF2 || point == 0x1CF3) return true;  // Mc until Unicode 12
  if (point == 0x111C9) return false;
  return (category_mask(point) & U_GC_M_MASK) && known_in(point, 9);
}

bool is_cjk_ideograph(char32_t point) {
  const auto in = [&](char32_t first, char32_t last) { return point >= first && point <= last; };
  return in(0x4E00, 0x9FFF) || in(0x3400, 0x4DBF) || in(0x20000, 0x2A6DF) || in(0x2A700, 0x2B73F) ||
         in(0x2B740, 0x2B81F) || in(0x2B920, 0x2CEAF) || in(0xF900, 0xFAFF) || in(0x2F800, 0x2FA1F);
}

int combining_class(char32_t point) {
  if (point < 0x300) return 0;
  const int found = u_getCombiningClass(code(point));
  return found != 0 && known_in(point, 9) ? found : 0;
}

Mapping decomposition(char32_t point, bool compatible) {
  Mapping result;
  if (point >= 0xA0) {
    UErrorCode status = U_ZERO_ERROR;
    UChar units[40];
    const std::int32_t length = unorm2_getDecomposition(instance(compatible), code(point), units, 40, &status);
    if (U_SUCCESS(status) && length > 0 && known_in(point, 9)) {
      for (std::int32_t i = 0; i < length && result.size < 18;) {
        UChar32 part;
        U16_NEXT(units, i, length, part);
        result.points[result.size++] = static_cast<char32_t>(part);
      }
      return result;
    }
  }
  result.points[0] = point;
  result.size = 1;
  return result;
}

Mapping lower_case(char32_t point) {
  Mapping result;
  result.size = 1;
  // The one full mapping to more than one code point is U+0130 (SpecialCasing.txt); final sigma needs a context that we
  // do not use.
  if (point == 0x130) {
    result.points[0] = 'i';
    result.points[1] = 0x307;
    result.size = 2;
  } else {
    result.points[0] = static_cast<char32_t>(u_tolower(code(point)));
  }
  return result;
}

char32_t composition(char32_t first, char32_t second) {
  if (second < 0x300) return 0;
  static const UNormalizer2* nfc = [] {
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2* found = unorm2_getNFCInstance(&status);
    check(U_SUCCESS(status), "Unicode: ICU has no normalisation data ({})", u_errorName(status));
    return found;
  }();
  const UChar32 found = unorm2_composePair(nfc, code(first), code(second));
  return found > 0 && known_in(static_cast<char32_t>(found), 9) ? static_cast<char32_t>(found) : 0;
}

std::string to_normal_form(std::string_view text, NormalForm form) {
  AlignedText aligned(text, 0);
  apply_normal_form(aligned, form);
  return std::string(aligned.bytes());
}

std::string to_lower_case(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Mapping lower = lower_case(next_code_point(text, i));
    for (int k = 0; k < lower.size; ++k) append_utf8(result, lower.points[k]);
  }
  return result;
}

std::string strip_accents(std::string_view text) {
  const std::string decomposed = to_normal_form(text, NormalForm::nfd);
  std::string result;
  for (std::size_t i = 0; i < decomposed.size();) {
    const char32_t point = next_code_point(decomposed, i);
    if (!is_old_nonspacing_mark(point)) append_utf8(result, point);
  }
  return result;
}

}  // namespace attune
