#include "attune/text/byte_alphabet.h"

#include "attune/text/utf8.h"

namespace attune {

namespace {

struct Alphabet {
  std::array<char32_t, 256> characters;
  std::array<std::string, 256> texts;
  std::array<std::int16_t, 0x144> bytes;
  Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      characters[byte] = printable ? byte : next++;
      append_utf8(texts[byte], characters[byte]);
      bytes[characters[byte]] = static_cast<std::int16_t>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet made;
  return made;
}

}  // namespace

char32_t byte_to_character(unsigned char byte) { return alphabet().characters[byte]; }

int character_to_byte(char32_t point) {
  const Alphabet& letters = alphabet();
  return point < letters.bytes.size() ? letters.bytes[point] : -1;
}

void append_byte_characters(std::string& text, std::string_view bytes) {
  const Alphabet& letters = alphabet();
  for (char byte : bytes) text += letters.texts[static_cast<unsigned char>(byte)];
}

bool append_bytes_of(std::string& bytes, std::string_view characters) {
  const std::size_t before = bytes.size();
  for (std::size_t i = 0; i < characters.size();) {
    const int byte = character_to_byte(next_code_point(characters, i));
    if (byte < 0) {
      bytes.resize(before);
      return false;
    }
    bytes.push_back(static_cast<char>(byte));
  }
  return true;
}

}  // namespace attune
