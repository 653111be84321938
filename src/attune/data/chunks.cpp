#include "attune/data/chunks.h"

#include <algorithm>

#include "attune/base/error.h"

namespace attune {

namespace {

/// The pieces of [begin, end) between the cuts that lie inside it.
std::vector<Chunk> pieces(Chunk whole, const std::vector<std::int64_t>& cuts) {
  std::vector<Chunk> parts;
  std::int64_t begin = whole.begin;
  for (auto cut = std::ranges::upper_bound(cuts, whole.begin); cut != cuts.end() && *cut < whole.end; ++cut) {
    if (*cut == begin) continue;
    parts.push_back({begin, *cut});
    begin = *cut;
  }
  if (begin < whole.end) parts.push_back({begin, whole.end});
  return parts;
}

class Packer {
 public:
  explicit Packer(std::int64_t longest) : longest_(longest) {}

  bool fits_alone(Chunk piece) const { return piece.length() <= longest_; }

  /// Puts a piece that fits alone behind the last one, in the same chunk if it fits there.
  void add(Chunk piece) {
    if (open_ && piece.end - chunks_.back().begin <= longest_)
      chunks_.back().end = piece.end;
    else
      chunks_.push_back(piece);
    open_ = true;
  }
  /// What comes next begins a chunk.
  void close() { open_ = false; }

  void add_in_equal_pieces(Chunk piece) {
    std::int64_t count = (piece.length() + longest_ - 1) / longest_;
    for (std::int64_t i = 0; i < count; ++i) {
      close();
      add({piece.begin + piece.length() * i / count, piece.begin + piece.length() * (i + 1) / count});
    }
  }

  std::vector<Chunk> take() { return std::move(chunks_); }

 private:
  std::int64_t longest_;
  bool open_ = false;
  std::vector<Chunk> chunks_;
};

void check_cuts(const std::vector<std::int64_t>& cuts, std::int64_t tokens) {
  check(std::ranges::is_sorted(cuts) && (cuts.empty() || (cuts.front() >= 0 && cuts.back() <= tokens)),
        "packing chunks: cut points must be ascending and within {} tokens", tokens);
}

}  // namespace

std::vector<std::int64_t> tokens_at(std::span<const std::size_t> token_begins, std::span<const std::size_t> places) {
  std::vector<std::int64_t> tokens;
  for (std::size_t place : places)
    tokens.push_back(std::ranges::lower_bound(token_begins, place) - token_begins.begin());
  return tokens;
}

std::vector<Chunk> pack_chunks(std::int64_t tokens, const CutPoints& cuts, std::int64_t longest) {
  check(longest >= 1, "packing chunks: the longest chunk must have at least one token, got {}", longest);
  check(tokens >= 0, "packing chunks: {} tokens", tokens);
  check_cuts(cuts.sections, tokens);
  check_cuts(cuts.sentences, tokens);
  Packer packer(longest);
  for (Chunk section : pieces({0, tokens}, cuts.sections)) {
    if (packer.fits_alone(section)) {
      packer.add(section);
      continue;
    }
    packer.close();
    for (Chunk sentence : pieces(section, cuts.sentences)) {
      if (packer.fits_alone(sentence))
        packer.add(sentence);
      else
        packer.add_in_equal_pieces(sentence);
    }
  }
  return packer.take();
}

std::vector<Chunk> stride_chunks(std::int64_t tokens, std::int64_t longest, std::int64_t overlap) {
  check(overlap >= 0 && overlap < longest,
        "striding: the overlap must be from 0 to less than the longest chunk {}, got {}", longest, overlap);
  std::vector<Chunk> chunks;
  if (tokens <= 0) return chunks;
  std::int64_t begin = 0;
  for (; begin + longest < tokens; begin += longest - overlap) chunks.push_back({begin, begin + longest});
  chunks.push_back({std::max<std::int64_t>(0, tokens - longest), tokens});
  return chunks;
}

}  // namespace attune
