#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attune/base/random.h"
#include "attune/base/run.h"
#include "attune/explain/ask.h"
#include "attune/text/tokenizer.h"

namespace attune::explain {

/// What probes are made of, in one tokenizer's tokens.
struct ProbeText {
  std::vector<std::int64_t> text;                               // real text, its documents one behind the other
  std::vector<std::int64_t> words;                              // tokens that are a whole word each
  std::vector<std::int64_t> before_pair = {}, after_pair = {};  // what a needle stands in: "\nRemember:" and "."

  /// `most_words`: no more than the first so many, which a trained tokenizer has as its most frequent ones; 0: all.
  /// Throws Error where the text has no token, or there are fewer than 16 words.
  static ProbeText of(const Tokenizer& tokenizer, std::span<const std::string_view> texts, std::int64_t most_words = 0,
                      const Run& run = {});
};

/// Tokens of a document or sequence of a probe, at most: a forward of a longer one fits no machine that this is for.
inline constexpr std::int64_t longest_probe = 1048576;

struct NeedleSizes {
  std::int64_t length = 512;  // tokens of the whole document
  double depth = 0.5;         // of the needle that is asked for: 0 at the beginning, 1 just before the question
  std::int64_t pairs = 4;     // needles; the others stand anywhere
};

/// A needle in real text (Kamradt 2023, "Needle in a haystack"; with several keys as in Hsieh et al. 2024, RULER, table
/// 2): "\nRemember: KEY VALUE." stands within a stretch of text for each of several pairs of words, and at the end
/// "\nRemember: KEY" asks for the VALUE, whose place is the only one. Throws Error where the needles do
/// not fit the length or a size is out of range.
Asked needle_document(const ProbeText& text, const NeedleSizes& sizes, RandomStream& random);

struct CopySizes {
  std::int64_t length = 512;
  double depth = 0.5;      // of the first time, as above
  std::int64_t span = 24;  // words that are repeated
};

/// A span of words drawn at random stands within a stretch of real text and again at the end (Olsson et al. 2022,
/// "In-context learning and induction heads"; Jelassi et al. 2024, "Repeat after me"): all but its first word can be
/// known by looking back, and by nothing else. `places`: of the second time, all but the first word. Throws Error as
/// needle_document does.
Asked copy_document(const ProbeText& text, const CopySizes& sizes, RandomStream& random);

/// Documents to learn looking back from, dense in it: from the probes' own, in which few tokens can be known by looking
/// back, a small model learns nothing in a million tokens. The first: 3 to `most` words drawn at random, said again and
/// again up to `length` tokens. The second: 1 to `most` pairs, each said once and then asked for again and again in a
/// random order, as a needle is. In one document of two, stretches of text stand between. Places are those of the
/// tokens that can be known. Throws Error where nothing fits.
Asked repeated_words(const ProbeText& text, std::int64_t length, std::int64_t most, RandomStream& random);
Asked repeated_pairs(const ProbeText& text, std::int64_t length, std::int64_t most, RandomStream& random);

}  // namespace attune::explain
