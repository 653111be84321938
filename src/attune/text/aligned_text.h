#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attune/text/utf8.h"

namespace attune {

/// Bytes [begin, end) of the text that the user gave.
struct Span {
  std::uint32_t begin = 0, end = 0;
};

/// A part of the user's text while it is being normalised: its present bytes, and for each of them where it came from.
/// The rules of alignment are those of Hugging Face's NormalizedString, so that offsets are equal. As long as only
/// single bytes have been replaced by single bytes, nothing is stored for the alignment.
class AlignedText {
 public:
  /// `part` begins at byte `shift` of the user's text and must outlive this object.
  AlignedText(std::string_view part, std::uint32_t shift) : view_(part), shift_(shift) {}

  std::string_view bytes() const { return changed_ ? std::string_view(own_) : view_; }
  bool empty() const { return bytes().empty(); }

  /// Where the bytes [begin, end) came from; begin < end <= size.
  Span origin(std::size_t begin, std::size_t end) const {
    if (!aligned_) return {shift_ + character_begin(begin), shift_ + character_end(end)};
    return {align_[begin].begin, align_[end - 1].end};
  }

  /// Replaces each character by what `write(point, writer)` puts; the new characters have the old one's origin.
  template <class Write>
  void expand(Write&& write);

  /// Replaces single bytes; `change` keeps the structure of characters (it changes ASCII to ASCII only).
  template <class Change>
  void change_bytes(Change&& change) {
    make_own();
    for (char& byte : own_) byte = change(byte);
  }

  /// Drops everything outside [begin, end), which lie between characters.
  void keep(std::size_t begin, std::size_t end);

  /// Puts `prefix` before the first character; it gets that character's origin. Nothing happens to empty text.
  void prepend(std::string_view prefix);

  /// Replaces each range of `matches` (in order, without overlap) by `content`, which comes from where the range ended.
  void replace(const std::vector<Span>& matches, std::string_view content);

  /// A new character of a transformation. `change` 0: stands for the next old character; 1: is inserted, with the
  /// origin of the one before; -n: as 0, and the n old characters behind are dropped.
  struct Transformed {
    char32_t point;
    std::int32_t change;
  };
  void transform(const std::vector<Transformed>& characters);

  /// Other bytes; byte i comes from the old ones [from[i], from[i + 1]), places between characters, which may be none.
  void rewrite(std::string text, const std::vector<std::uint32_t>& from);

  class Writer {
   public:
    void put(char32_t point) {
      const std::size_t before = text.size();
      append_utf8(text, point);
      align.insert(align.end(), text.size() - before, origin);
    }
    std::string text;
    std::vector<Span> align;
    Span origin;
  };

  /// The part [begin, end) as a text of its own.
  AlignedText part(std::size_t begin, std::size_t end) const;

 private:
  std::uint32_t character_begin(std::size_t at) const {
    const std::string_view text = bytes();
    while (at > 0 && is_utf8_continuation(text[at])) --at;
    return static_cast<std::uint32_t>(at);
  }
  std::uint32_t character_end(std::size_t at) const {
    const std::string_view text = bytes();
    while (at < text.size() && is_utf8_continuation(text[at])) ++at;
    return static_cast<std::uint32_t>(at);
  }
  /// Appends where each of the bytes [begin, end) came from; both lie between characters.
  void put_origins(std::size_t begin, std::size_t end, std::vector<Span>& align) const;
  void make_own();
  void take(Writer&& writer);

  std::string_view view_;    // while unchanged
  std::string own_;          // once changed
  std::vector<Span> align_;  // [bytes], once aligned
  std::uint32_t shift_ = 0;
  bool changed_ = false, aligned_ = false;
};

template <class Write>
void AlignedText::expand(Write&& write) {
  Writer writer;
  const std::string_view text = bytes();
  writer.text.reserve(text.size() + text.size() / 8);
  writer.align.reserve(text.size() + text.size() / 8);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char32_t point = next_code_point(text, i);
    writer.origin = aligned_ ? align_[begin]
                             : Span{shift_ + static_cast<std::uint32_t>(begin), shift_ + static_cast<std::uint32_t>(i)};
    write(point, writer);
  }
  take(std::move(writer));
}

}  // namespace attune
