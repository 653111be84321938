#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune {

/// One value of a GGUF file's metadata: a number, a truth value, a text, or an array of one type. Numbers are kept as
/// the file has them, so that what is read is written again to the same bytes.
class GgufValue {
 public:
  /// As files number them.
  enum class Type : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

  static GgufValue u32(std::uint32_t value);
  static GgufValue f32(float value);
  static GgufValue boolean(bool value);
  static GgufValue text(std::string value);
  static GgufValue texts(std::vector<std::string> values);
  static GgufValue f32s(const std::vector<float>& values);
  static GgufValue i32s(const std::vector<std::int32_t>& values);
  static GgufValue booleans(const std::vector<bool>& values);
  static GgufValue u8s(std::string bytes);
  /// A number, or an array of numbers of the type `element`, from its little-endian bytes.
  static GgufValue number(Type type, std::string bytes);
  static GgufValue numbers(Type element, std::string bytes);
  static GgufValue arrays(std::vector<GgufValue> values);

  Type type() const { return type_; }
  Type element() const { return element_; }  // of an array
  bool is_array() const { return type_ == Type::array; }
  std::size_t size() const;  // elements of an array; 1 for everything else

  bool is_whole() const;   // a whole number
  bool is_number() const;  // that, or one with a fraction
  /// Throws Error where it is not of that kind, or beyond 63 bits.
  std::int64_t integer(std::size_t i = 0) const;
  double number(std::size_t i = 0) const;
  bool flag(std::size_t i = 0) const;
  const std::string& text() const;
  const std::vector<std::string>& texts() const;
  const std::vector<GgufValue>& arrays() const;
  /// The bytes of the number or the numbers; those of a text are its own.
  const std::string& bytes() const { return bytes_; }

 private:
  Type type_ = Type::u8, element_ = Type::u8;
  std::string bytes_;
  std::vector<std::string> texts_;
  std::vector<GgufValue> arrays_;
};

/// Bytes of a number; 0 for texts and arrays.
std::size_t size_of(GgufValue::Type type);
std::string_view name_of(GgufValue::Type type);  // "u32"

/// The metadata of a GGUF file: named values in the file's order.
class GgufMetadata {
 public:
  using Entry = std::pair<std::string, GgufValue>;

  const std::vector<Entry>& entries() const { return entries_; }
  const GgufValue* find(std::string_view key) const;  // null where there is none
  void set(std::string key, GgufValue value);         // replaces one of the same key

  /// None where the key is absent; an Error that names the key where its value is of another kind.
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  const std::vector<std::string>& texts(std::string_view key) const;  // empty where absent, as the next two
  std::vector<double> numbers(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  /// As number(); an f32 as the decimal number that a person would have written: 1e-05, not 9.99999974738e-06.
  std::optional<double> decimal(std::string_view key) const;

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> by_key_;
};

}  // namespace attune
