#include <array>
#include <vector>

#include "attune/text/normal_form.h"
#include "attune/text/normalizer.h"
#include "attune/text/unicode.h"

namespace attune {

namespace {

/// The cleaning of BERT's first tokenizer (Devlin et al. 2019, tokenization.py): control characters go, white space
/// becomes a space, ideographs get spaces around, accents and case go where asked. Done in one pass by a table of what
/// each character becomes; the steps one by one only where marks stay that decomposing would reorder.
class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const JsonView& json)
      : clean_(json.flag("clean_text")),
        ideographs_(json.flag("handle_chinese_chars")),
        lower_(json.flag("lowercase")),
        accents_(json.flag_or("strip_accents", lower_)) {
    for (char32_t point = 0; point < table_size; ++point) {
      Mapping& entry = table_[point];
      entry = become(point);
      if (point < 0x80) {
        ascii_[point] = static_cast<char>(entry.points[0]);
        ascii_dropped_[point] = entry.size == 0;
      }
    }
  }

  void apply(AlignedText& text) const override {
    const std::string_view bytes = text.bytes();
    bool ascii = true, dropped = false;
    for (char byte : bytes) {
      const auto code = static_cast<unsigned char>(byte);
      if (code >= 0x80) {
        ascii = false;
        break;
      }
      dropped |= ascii_dropped_[code];
    }
    if (ascii && !dropped) return text.change_bytes([&](char c) { return ascii_[static_cast<unsigned char>(c)]; });
    if (accents_ && !ascii && keeps_combining(bytes)) return step_by_step(text);
    text.expand([&](char32_t point, AlignedText::Writer& writer) {
      const Mapping entry = point < table_size ? table_[point] : become(point);
      for (int i = 0; i < entry.size; ++i) writer.put(entry.points[i]);
    });
  }

 private:
  static constexpr char32_t table_size = 0x800;  // ASCII to Arabic

  static bool dropped_by_cleaning(char32_t point) {
    const bool line = point == '\t' || point == '\n' || point == '\r';
    return point == 0 || point == 0xFFFD || (is_old_control(point) && !line);
  }

  Mapping become(char32_t point) const {
    Mapping result;
    const auto put = [&](char32_t next) { result.points[result.size++] = next; };
    if (clean_ && dropped_by_cleaning(point)) return result;
    if (clean_ && is_white_space(point)) point = ' ';
    const bool ideograph = ideographs_ && is_cjk_ideograph(point);
    if (ideograph) put(' ');
    const Mapping parts = accents_ ? decomposition(point, false) : Mapping{{point}, 1};
    for (int i = 0; i < parts.size; ++i) {
      if (accents_ && is_old_nonspacing_mark(parts.points[i])) continue;
      const Mapping lower = lower_ ? lower_case(parts.points[i]) : Mapping{{parts.points[i]}, 1};
      for (int k = 0; k < lower.size; ++k) put(lower.points[k]);
    }
    if (ideograph) put(' ');
    return result;
  }

  /// True where a mark stays that has a combining class (Mc such as U+302E, or one newer than Unicode 8).
  static bool keeps_combining(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      const char32_t point = next_code_point(text, i);
      if (point < table_size) continue;
      if (combining_class(point) != 0 && !is_old_nonspacing_mark(point)) return true;
      const Mapping parts = decomposition(point, false);
      for (int k = 1; k < parts.size; ++k)
        if (combining_class(parts.points[k]) != 0 && !is_old_nonspacing_mark(parts.points[k])) return true;
    }
    return false;
  }

  void step_by_step(AlignedText& text) const {
    if (clean_)
      text.expand([](char32_t point, AlignedText::Writer& writer) {
        if (!dropped_by_cleaning(point)) writer.put(is_white_space(point) ? U' ' : point);
      });
    if (ideographs_)
      text.expand([](char32_t point, AlignedText::Writer& writer) {
        const bool ideograph = is_cjk_ideograph(point);
        if (ideograph) writer.put(' ');
        writer.put(point);
        if (ideograph) writer.put(' ');
      });
    if (accents_) {
      apply_normal_form(text, NormalForm::nfd);
      text.expand([](char32_t point, AlignedText::Writer& writer) {
        if (!is_old_nonspacing_mark(point)) writer.put(point);
      });
    }
    if (lower_)
      text.expand([](char32_t point, AlignedText::Writer& writer) {
        const Mapping lower = lower_case(point);
        for (int i = 0; i < lower.size; ++i) writer.put(lower.points[i]);
      });
  }

  bool clean_, ideographs_, lower_, accents_;
  std::vector<Mapping> table_ = std::vector<Mapping>(table_size);
  std::array<char, 128> ascii_{};
  std::array<bool, 128> ascii_dropped_{};
};

}  // namespace

std::shared_ptr<const Normalizer> read_bert_normalizer(const JsonView& json) {
  json.only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  return std::make_shared<BertNormalizer>(json);
}

}  // namespace attune
