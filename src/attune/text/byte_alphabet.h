#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace attune {

/// The printable characters that stand for the 256 bytes in byte-level tokens (GPT-2, encoder.py, bytes_to_unicode):
/// printable Latin-1 for itself, the others from U+0100 on in their order.
char32_t byte_to_character(unsigned char byte);
/// The byte that a character stands for, or -1.
int character_to_byte(char32_t point);

/// Appends the characters of all bytes as UTF-8.
void append_byte_characters(std::string& text, std::string_view bytes);
/// Appends the bytes that the characters stand for; false, and nothing appended, where one stands for none.
bool append_bytes_of(std::string& bytes, std::string_view characters);

}  // namespace attune
