#include "attune/text/normal_form.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>

#include <algorithm>
#include <vector>

namespace attune {

namespace {

struct Item {
  char32_t point;
  std::int32_t change;  // as AlignedText::Transformed
  int combining;        // canonical combining class
};

/// True where the text surely is in the form already: every character is a starter that can't change or combine
/// backwards.
bool surely_normal(std::string_view text, NormalForm form) {
  const char32_t first = form == NormalForm::nfc ? 0x300 : form == NormalForm::nfd ? 0xC0 : 0xA0;
  const UProperty quick = form == NormalForm::nfc    ? UCHAR_NFC_QUICK_CHECK
                          : form == NormalForm::nfd  ? UCHAR_NFD_QUICK_CHECK
                          : form == NormalForm::nfkc ? UCHAR_NFKC_QUICK_CHECK
                                                     : UCHAR_NFKD_QUICK_CHECK;
  if (is_ascii(text)) return true;
  for (std::size_t i = 0; i < text.size();) {
    const char32_t point = next_code_point(text, i);
    if (point < first) continue;
    const auto code = static_cast<UChar32>(point);
    if (u_getIntPropertyValue(code, quick) != UNORM_YES || u_getCombiningClass(code) != 0) return false;
  }
  return true;
}

std::vector<Item> decompose(std::string_view text, bool compatible) {
  std::vector<Item> items;
  items.reserve(text.size());
  std::size_t pending = 0;  // first of the marks that are not sorted yet
  const auto sort_pending = [&] {
    std::stable_sort(items.begin() + static_cast<std::ptrdiff_t>(pending), items.end(),
                     [](const Item& a, const Item& b) { return a.combining < b.combining; });
    pending = items.size();
  };
  for (std::size_t i = 0; i < text.size();) {
    const Mapping parts = decomposition(next_code_point(text, i), compatible);
    for (int k = 0; k < parts.size; ++k) {
      const int combining = combining_class(parts.points[k]);
      if (combining == 0) sort_pending();
      items.push_back({parts.points[k], k > 0, combining});
      if (combining == 0) pending = items.size();
    }
  }
  sort_pending();
  return items;
}

/// UAX #15, "canonical composition": each mark joins the last starter unless something of its class or higher stands
/// between.
std::vector<Item> compose(const std::vector<Item>& items) {
  std::vector<Item> result;
  result.reserve(items.size());
  std::ptrdiff_t starter = -1;
  int last_class = -1;  // of what stands between the starter and here; -1: nothing
  for (const Item& item : items) {
    if (starter >= 0 && last_class < item.combining) {
      Item& base = result[static_cast<std::size_t>(starter)];
      if (const char32_t composite = composition(base.point, item.point)) {
        base.point = composite;
        base.change += item.change - 1;
        continue;
      }
    }
    if (item.combining == 0) {
      starter = static_cast<std::ptrdiff_t>(result.size());
      last_class = -1;
    } else {
      last_class = item.combining;
    }
    result.push_back(item);
  }
  return result;
}

}  // namespace

void apply_normal_form(AlignedText& text, NormalForm form) {
  if (surely_normal(text.bytes(), form)) return;
  std::vector<Item> items = decompose(text.bytes(), form == NormalForm::nfkc || form == NormalForm::nfkd);
  if (form == NormalForm::nfc || form == NormalForm::nfkc) items = compose(items);
  std::vector<AlignedText::Transformed> characters;
  characters.reserve(items.size());
  for (const Item& item : items) characters.push_back({item.point, item.change});
  text.transform(characters);
}

}  // namespace attune
