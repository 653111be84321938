#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attune {

/// Tokens [begin, end) of a document.
struct Chunk {
  std::int64_t begin, end;
  std::int64_t length() const { return end - begin; }
  bool operator==(const Chunk&) const = default;
};

/// The tokens at which sections and sentences begin; ascending, each within [0, tokens]. 0 need not be among them.
struct CutPoints {
  std::vector<std::int64_t> sections, sentences;
};

/// For places in a text, the first token that begins at or behind each. `token_begins`: where each token begins in the
/// text, in the same unit as `places`, ascending; so a token over a place belongs to what lies before it.
std::vector<std::int64_t> tokens_at(std::span<const std::size_t> token_begins, std::span<const std::size_t> places);

/// Divides a long document into chunks of at most `longest` tokens without losing one: the chunks follow one another
/// and cover [0, tokens). Whole sections are packed together in order while they fit. A section that alone is longer
/// than `longest` begins a chunk of its own and is divided between sentences, packed likewise; a sentence that alone is
/// too long is divided into equal pieces (lengths differ by 1 at most). No token: no chunk. Throws Error where longest
/// < 1 or cut points are out of order.
std::vector<Chunk> pack_chunks(std::int64_t tokens, const CutPoints& cuts, std::int64_t longest);

/// Windows of `longest` tokens that each share `overlap` with the one before, the last one flush with the end; one
/// chunk where all fits. Every token is in at least one. Throws Error unless 0 <= overlap < longest.
std::vector<Chunk> stride_chunks(std::int64_t tokens, std::int64_t longest, std::int64_t overlap);

}  // namespace attune
