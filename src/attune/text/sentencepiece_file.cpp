#include "attune/text/sentencepiece_file.h"

#include <algorithm>
#include <array>

#include "attune/base/error.h"
#include "attune/text/string_table.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

SentencePiece read_piece(std::string_view bytes, const std::string& what) {
  SentencePiece piece;
  ProtoReader reader(bytes, what);
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) {
      reader.expect(field, ProtoField::length);
      piece.text = field.bytes;
    } else if (field.number == 2) {
      reader.expect(field, ProtoField::fixed32);
      piece.score = float_of(field.value);
    } else if (field.number == 3) {
      reader.expect(field, ProtoField::varint);
      if (field.value < 1 || field.value > 6) reader.reject(fmt::format("there is no type {} of pieces", field.value));
      piece.type = static_cast<SentencePiece::Type>(field.value);
    } else {
      piece.more += field.whole;
    }
  }
  check(!piece.text.empty(), "{}: is empty", what);
  check_utf8(piece.text, what);
  check(piece.score == piece.score && piece.score - piece.score == 0, "{}: its score is not a finite number", what);
  return piece;
}

/// "<0x41>": the byte, or -1.
int byte_of(std::string_view text) {
  for (int byte = 0; byte < 256; ++byte)
    if (text == fmt::format("<0x{:02X}>", byte)) return byte;
  return -1;
}

void check_pieces(const SentencePieceFile& file, const std::string& source) {
  StringTable names[2];  // of what texts hold, and of what they don't
  std::array<bool, 256> bytes{};
  std::int64_t unknown = 0;
  for (const SentencePiece& piece : file.pieces) {
    using Type = SentencePiece::Type;
    const bool ordinary = piece.type == Type::normal || piece.type == Type::user_defined || piece.type == Type::unused;
    StringTable& table = names[ordinary ? 0 : 1];
    check(table.find(piece.text) < 0, "{}: the piece \"{}\" stands there twice", source, piece.text);
    table.add(piece.text);
    unknown += piece.type == Type::unknown;
    if (piece.type != Type::byte) continue;
    const int byte = byte_of(piece.text);
    check(byte >= 0, "{}: the byte piece \"{}\" names no byte", source, piece.text);
    check(file.byte_fallback(), "{}: has the byte piece \"{}\", but byte_fallback is false", source, piece.text);
    bytes[static_cast<std::size_t>(byte)] = true;
  }
  check(unknown == 1, "{}: has {} unknown pieces: expected one", source, unknown);
  check(!file.byte_fallback() || std::count(bytes.begin(), bytes.end(), true) == 256,
        "{}: byte_fallback is true, but only {} of 256 bytes are there", source,
        std::count(bytes.begin(), bytes.end(), true));
}

}  // namespace

SentencePieceFile SentencePieceFile::read(std::string_view bytes, const std::string& source) {
  SentencePieceFile file;
  ProtoReader reader(bytes, source);
  for (ProtoField field; reader.next(field);) {
    if (field.number <= 5) reader.expect(field, ProtoField::length);
    switch (field.number) {
      case 1:
        file.pieces.push_back(read_piece(field.bytes, fmt::format("{}: piece {}", source, file.pieces.size())));
        break;
      case 2:
        file.trainer = ProtoMessage::read(field.bytes, source + ": trainer_spec");
        break;
      case 3:
        file.normalizer.fields = ProtoMessage::read(field.bytes, source + ": normalizer_spec");
        break;
      case 4:
        file.self_tests = field.bytes;
        break;
      case 5:
        file.denormalizer = SentencePieceRules{ProtoMessage::read(field.bytes, source + ": denormalizer_spec")};
        break;
      default:
        file.more += field.whole;
    }
  }
  check(!file.pieces.empty(), "{}: holds no pieces: is it a SentencePiece model?", source);
  const std::int64_t kind = file.trainer.integer(3, 1);
  check(kind >= 1 && kind <= 4, "{}: trainer_spec.model_type is {}: expected 1 to 4", source, kind);
  check_utf8(file.unknown_surface(), source + ": trainer_spec.unk_surface");
  check_pieces(file, source);
  return file;
}

std::string SentencePieceFile::write() const {
  std::string bytes;
  for (const SentencePiece& piece : pieces) {
    std::string message;
    put_bytes(message, 1, piece.text);
    put_float(message, 2, piece.score);
    if (piece.type != SentencePiece::Type::normal)  // the default, which SentencePiece leaves out
      put_integer(message, 3, static_cast<std::uint64_t>(piece.type));
    put_bytes(bytes, 1, message + piece.more);
  }
  put_bytes(bytes, 2, trainer.bytes());
  put_bytes(bytes, 3, normalizer.fields.bytes());
  if (!self_tests.empty()) put_bytes(bytes, 4, self_tests);
  if (denormalizer) put_bytes(bytes, 5, denormalizer->fields.bytes());
  return bytes + more;
}

}  // namespace attune
