#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), as much as files need that Attune
/// reads: no groups, no packed numbers. Every fault is an Error that says where in which message.

/// One field: `value` holds a whole number (or the bits of a fixed one), `bytes` what has a length.
struct ProtoField {
  enum Wire : std::uint8_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };
  std::uint32_t number = 0;
  Wire wire = varint;
  std::uint64_t value = 0;
  std::string_view bytes = {};
  std::string_view whole = {};  // all bytes of the field, its tag too
};

/// Goes through the fields of a message in their order.
class ProtoReader {
 public:
  /// `message` must outlive the reader; `what` names it in errors.
  ProtoReader(std::string_view message, std::string what) : message_(message), what_(std::move(what)) {}
  bool next(ProtoField& field);

  [[noreturn]] void reject(std::string_view why) const;
  /// Throws unless the field has this wire type.
  void expect(const ProtoField& field, ProtoField::Wire wire) const;

 private:
  std::uint64_t read_varint();
  std::uint64_t read_fixed(int bytes);

  std::string_view message_;
  std::size_t at_ = 0;
  std::string what_;
};

void put_varint(std::string& message, std::uint64_t value);
void put_integer(std::string& message, std::uint32_t field, std::uint64_t value);
void put_float(std::string& message, std::uint32_t field, float value);
void put_bytes(std::string& message, std::uint32_t field, std::string_view bytes);

float float_of(std::uint64_t bits);

/// A small message whose fields are kept as they came, so that it is written as it was read.
class ProtoMessage {
 public:
  ProtoMessage() = default;
  static ProtoMessage read(std::string_view bytes, const std::string& what);
  const std::string& bytes() const { return bytes_; }

  /// The field's value; of one given more than once the last.
  std::int64_t integer(std::uint32_t field, std::int64_t otherwise) const;
  bool flag(std::uint32_t field, bool otherwise) const { return integer(field, otherwise) != 0; }
  std::string text(std::uint32_t field, std::string otherwise) const;

  /// Puts a field at the end; a message is made by putting its fields in the order of their numbers.
  void put(std::uint32_t field, std::int64_t value) { put_integer(bytes_, field, static_cast<std::uint64_t>(value)); }
  void put(std::uint32_t field, std::string_view text) { put_bytes(bytes_, field, text); }

 private:
  std::optional<ProtoField> last(std::uint32_t field, ProtoField::Wire wire) const;
  std::string bytes_, what_;
};

}  // namespace attune
