#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// SentencePiece's table of replacements ("precompiled_charsmap"): the size of a double array in bytes, the array
/// (units of 32 bits, little endian, as of Darts-clone), and the replacements, each ended by a zero byte. A key's value
/// is where in those its replacement begins.
class Charsmap {
 public:
  /// Throws Error where `bytes` can't be one. What lies inside the array is checked as it is used.
  static Charsmap read(std::string_view bytes);

  /// True where some key begins with this byte.
  bool begins(char byte) const;

  struct Match {
    std::size_t length;  // bytes of the text that the key has
    std::string_view replacement;
  };
  /// The shortest or the longest key that `text` begins with. Throws Error where the table points outside itself.
  std::optional<Match> shortest(std::string_view text) const { return find(text, false); }
  std::optional<Match> longest(std::string_view text) const { return find(text, true); }

 private:
  std::optional<Match> find(std::string_view text, bool longest) const;
  std::uint32_t unit(std::size_t at) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

/// Standard base64 with its padding. Throws Error on anything else.
std::string decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

}  // namespace attune
