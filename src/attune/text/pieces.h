#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/text/aligned_text.h"

namespace attune {

/// A piece of one of the texts: the bytes [begin, end). `added` >= 0: an added token's id, which nothing splits
/// further.
struct Piece {
  std::uint32_t text;
  std::uint32_t begin, end;
  std::int32_t added = -1;
};

/// What to do with the matches of a pattern that splits (as Hugging Face's SplitDelimiterBehavior).
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// The user's text on its way to tokens: a list of pieces, in order, of texts that may have been normalised each by
/// itself.
class Pieces {
 public:
  void clear() {
    texts_.clear();
    list_.clear();
  }

  const std::vector<Piece>& list() const { return list_; }
  AlignedText& text(const Piece& piece) { return texts_[piece.text]; }
  const AlignedText& text(const Piece& piece) const { return texts_[piece.text]; }
  std::string_view bytes(const Piece& piece) const {
    return texts_[piece.text].bytes().substr(piece.begin, piece.end - piece.begin);
  }
  Span origin(const Piece& piece) const { return texts_[piece.text].origin(piece.begin, piece.end); }

  /// A new text; pieces may then name it.
  std::uint32_t add_text(AlignedText text) {
    texts_.push_back(std::move(text));
    return static_cast<std::uint32_t>(texts_.size() - 1);
  }
  void add(const Piece& piece) {
    if (piece.end > piece.begin) list_.push_back(piece);
  }

  /// Replaces every piece that is no added token by what `split(piece)` adds; empty pieces vanish.
  template <class Split>
  void split(Split&& split) {
    before_.swap(list_);
    list_.clear();
    list_.reserve(before_.size());
    for (const Piece& piece : before_) {
      if (piece.added >= 0) {
        list_.push_back(piece);
      } else {
        split(piece);
      }
    }
  }

  /// Replaces every such piece by a changed text of its own.
  template <class Change>
  void change(Change&& change) {
    split([&](const Piece& piece) {
      AlignedText own = texts_[piece.text].part(piece.begin, piece.end);
      change(own);
      const auto end = static_cast<std::uint32_t>(own.bytes().size());
      add({add_text(std::move(own)), 0, end});
    });
  }

  /// Splits a piece by matches (positions relative to the piece), which are the delimiters, or with `inverted` what
  /// lies between.
  void split_at(const Piece& piece, const std::vector<Span>& matches, SplitBehavior behavior, bool inverted = false);

 private:
  std::deque<AlignedText> texts_;  // the addresses of texts stay while others are added
  std::vector<Piece> list_, before_;
  struct Part {
    Span range;
    bool match;
  };
  std::vector<Part> parts_;
};

}  // namespace attune
