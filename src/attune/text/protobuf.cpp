#include "attune/text/protobuf.h"

#include <cstring>

#include "attune/base/error.h"

namespace attune {

void ProtoReader::reject(std::string_view why) const { fail("{}: byte {}: {}", what_, at_, why); }

void ProtoReader::expect(const ProtoField& field, ProtoField::Wire wire) const {
  if (field.wire != wire)
    reject(fmt::format("field {} has the wire type {}: expected {}", field.number, static_cast<int>(field.wire),
                       static_cast<int>(wire)));
}

std::uint64_t ProtoReader::read_varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ >= message_.size()) reject("a number is cut off");
    const auto byte = static_cast<unsigned char>(message_[at_++]);
    if (shift == 63 && byte > 1) reject("a number has more than 64 bits");
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  reject("a number has more than 10 bytes");
}

std::uint64_t ProtoReader::read_fixed(int bytes) {
  if (message_.size() - at_ < static_cast<std::size_t>(bytes)) reject("a number is cut off");
  std::uint64_t value = 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(message_[at_ + static_cast<std::size_t>(i)]);
  at_ += static_cast<std::size_t>(bytes);
  return value;
}

bool ProtoReader::next(ProtoField& field) {
  if (at_ == message_.size()) return false;
  const std::size_t begin = at_;
  const std::uint64_t tag = read_varint();
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) reject(fmt::format("there is no field {}", tag >> 3));
  field = {static_cast<std::uint32_t>(tag >> 3), static_cast<ProtoField::Wire>(tag & 7)};
  switch (field.wire) {
    case ProtoField::varint:
      field.value = read_varint();
      break;
    case ProtoField::fixed64:
      field.value = read_fixed(8);
      break;
    case ProtoField::fixed32:
      field.value = read_fixed(4);
      break;
    case ProtoField::length: {
      const std::uint64_t size = read_varint();
      if (size > message_.size() - at_)
        reject(fmt::format("field {} has {} bytes, but {} are left", field.number, size, message_.size() - at_));
      field.bytes = message_.substr(at_, static_cast<std::size_t>(size));
      at_ += static_cast<std::size_t>(size);
      break;
    }
    default:
      reject(fmt::format("field {} has the wire type {}, which is not supported", field.number, tag & 7));
  }
  field.whole = message_.substr(begin, at_ - begin);
  return true;
}

void put_varint(std::string& message, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) message.push_back(static_cast<char>(value | 0x80));
  message.push_back(static_cast<char>(value));
}

void put_integer(std::string& message, std::uint32_t field, std::uint64_t value) {
  put_varint(message, std::uint64_t{field} << 3 | ProtoField::varint);
  put_varint(message, value);
}

void put_float(std::string& message, std::uint32_t field, float value) {
  put_varint(message, std::uint64_t{field} << 3 | ProtoField::fixed32);
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  for (int shift = 0; shift < 32; shift += 8) message.push_back(static_cast<char>(bits >> shift & 0xFF));
}

void put_bytes(std::string& message, std::uint32_t field, std::string_view bytes) {
  put_varint(message, std::uint64_t{field} << 3 | ProtoField::length);
  put_varint(message, bytes.size());
  message.append(bytes);
}

float float_of(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  float value;
  std::memcpy(&value, &low, sizeof value);
  return value;
}

ProtoMessage ProtoMessage::read(std::string_view bytes, const std::string& what) {
  ProtoReader reader(bytes, what);
  for (ProtoField field; reader.next(field);) {
  }
  ProtoMessage result;
  result.bytes_ = bytes;
  result.what_ = what;
  return result;
}

std::optional<ProtoField> ProtoMessage::last(std::uint32_t number, ProtoField::Wire wire) const {
  ProtoReader reader(bytes_, what_);
  std::optional<ProtoField> found;
  for (ProtoField field; reader.next(field);) {
    if (field.number != number) continue;
    reader.expect(field, wire);
    found = field;
  }
  return found;
}

std::int64_t ProtoMessage::integer(std::uint32_t field, std::int64_t otherwise) const {
  const auto found = last(field, ProtoField::varint);
  return found ? static_cast<std::int64_t>(found->value) : otherwise;
}

std::string ProtoMessage::text(std::uint32_t field, std::string otherwise) const {
  const auto found = last(field, ProtoField::length);
  return found ? std::string(found->bytes) : otherwise;
}

}  // namespace attune
