#include "attune/checkpoint/gguf_metadata.h"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "attune/base/error.h"
#include "attune/base/json.h"

namespace attune {

namespace {

using Type = GgufValue::Type;

constexpr std::array<std::string_view, 13> type_names = {"u8",      "i8",   "u16",   "i16", "u32", "i32", "f32",
                                                         "boolean", "text", "array", "u64", "i64", "f64"};
constexpr std::array<std::size_t, 13> type_sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

template <class T>
std::string bytes_of(const T* values, std::size_t count) {
  return std::string(reinterpret_cast<const char*>(values), count * sizeof(T));
}

template <class T>
T element_at(const std::string& bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

bool whole(Type type) {
  return type != Type::f32 && type != Type::f64 && type != Type::boolean && type != Type::text && type != Type::array;
}

std::string kind_of(const GgufValue& value) {
  if (!value.is_array()) return std::string(name_of(value.type()));
  return fmt::format("an array of {} {}", value.size(), name_of(value.element()));
}

/// Made only where it fails: arrays have hundreds of thousands of values.
void expect(const GgufValue& value, bool holds, std::string_view what) {
  if (!holds) fail("it is {}: expected {}", kind_of(value), what);
}

}  // namespace

std::size_t size_of(Type type) { return type_sizes[static_cast<std::size_t>(type)]; }
std::string_view name_of(Type type) { return type_names[static_cast<std::size_t>(type)]; }

GgufValue GgufValue::number(Type type, std::string bytes) {
  check(bytes.size() == size_of(type) && !bytes.empty(), "{} bytes are no {}", bytes.size(), name_of(type));
  GgufValue made;
  made.type_ = type;
  made.bytes_ = std::move(bytes);
  return made;
}

GgufValue GgufValue::numbers(Type element, std::string bytes) {
  check(size_of(element) > 0 && bytes.size() % size_of(element) == 0, "{} bytes are no array of {}", bytes.size(),
        name_of(element));
  GgufValue made;
  made.type_ = Type::array;
  made.element_ = element;
  made.bytes_ = std::move(bytes);
  return made;
}

GgufValue GgufValue::u32(std::uint32_t value) { return number(Type::u32, bytes_of(&value, 1)); }
GgufValue GgufValue::f32(float value) { return number(Type::f32, bytes_of(&value, 1)); }
GgufValue GgufValue::boolean(bool value) { return number(Type::boolean, std::string(1, value ? '\1' : '\0')); }
GgufValue GgufValue::f32s(const std::vector<float>& values) {
  return numbers(Type::f32, bytes_of(values.data(), values.size()));
}
GgufValue GgufValue::i32s(const std::vector<std::int32_t>& values) {
  return numbers(Type::i32, bytes_of(values.data(), values.size()));
}
GgufValue GgufValue::booleans(const std::vector<bool>& values) {
  std::string bytes;
  for (bool value : values) bytes += value ? '\1' : '\0';
  return numbers(Type::boolean, std::move(bytes));
}
GgufValue GgufValue::u8s(std::string bytes) { return numbers(Type::u8, std::move(bytes)); }

GgufValue GgufValue::text(std::string value) {
  GgufValue made;
  made.type_ = Type::text;
  made.bytes_ = std::move(value);
  return made;
}

GgufValue GgufValue::texts(std::vector<std::string> values) {
  GgufValue made;
  made.type_ = Type::array;
  made.element_ = Type::text;
  made.texts_ = std::move(values);
  return made;
}

GgufValue GgufValue::arrays(std::vector<GgufValue> values) {
  GgufValue made;
  made.type_ = Type::array;
  made.element_ = Type::array;
  made.arrays_ = std::move(values);
  return made;
}

std::size_t GgufValue::size() const {
  if (!is_array()) return 1;
  if (element_ == Type::text) return texts_.size();
  if (element_ == Type::array) return arrays_.size();
  return bytes_.size() / size_of(element_);
}

bool GgufValue::is_whole() const { return whole(is_array() ? element_ : type_); }
bool GgufValue::is_number() const {
  const Type type = is_array() ? element_ : type_;
  return whole(type) || type == Type::f32 || type == Type::f64;
}

std::int64_t GgufValue::integer(std::size_t i) const {
  expect(*this, is_whole(), "a whole number");
  check(i < size(), "it has {} values: expected at least {}", size(), i + 1);
  switch (is_array() ? element_ : type_) {
    case Type::u8:
      return element_at<std::uint8_t>(bytes_, i);
    case Type::i8:
      return element_at<std::int8_t>(bytes_, i);
    case Type::u16:
      return element_at<std::uint16_t>(bytes_, i);
    case Type::i16:
      return element_at<std::int16_t>(bytes_, i);
    case Type::u32:
      return element_at<std::uint32_t>(bytes_, i);
    case Type::i32:
      return element_at<std::int32_t>(bytes_, i);
    case Type::i64:
      return element_at<std::int64_t>(bytes_, i);
    default:
      break;
  }
  const auto value = element_at<std::uint64_t>(bytes_, i);
  check(value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()),
        "it is {}: a number of more than 63 bits", value);
  return static_cast<std::int64_t>(value);
}

double GgufValue::number(std::size_t i) const {
  expect(*this, is_number(), "a number");
  const Type type = is_array() ? element_ : type_;
  if (type != Type::f32 && type != Type::f64) return static_cast<double>(integer(i));
  check(i < size(), "it has {} values: expected at least {}", size(), i + 1);
  return type == Type::f32 ? element_at<float>(bytes_, i) : element_at<double>(bytes_, i);
}

bool GgufValue::flag(std::size_t i) const {
  expect(*this, (is_array() ? element_ : type_) == Type::boolean, "true or false");
  check(i < size(), "it has {} values: expected at least {}", size(), i + 1);
  return bytes_[i] != 0;
}

const std::string& GgufValue::text() const {
  expect(*this, type_ == Type::text, "a text");
  return bytes_;
}

const std::vector<std::string>& GgufValue::texts() const {
  expect(*this, is_array() && element_ == Type::text, "an array of texts");
  return texts_;
}

const std::vector<GgufValue>& GgufValue::arrays() const {
  expect(*this, is_array() && element_ == Type::array, "an array of arrays");
  return arrays_;
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &entries_[found->second].second;
}

void GgufMetadata::set(std::string key, GgufValue value) {
  auto [place, added] = by_key_.emplace(key, entries_.size());
  if (added)
    entries_.emplace_back(std::move(key), std::move(value));
  else
    entries_[place->second].second = std::move(value);
}

namespace {

/// What `read` makes of a value; an Error of it gets the key in front.
template <class Read>
auto value_of(const GgufMetadata& metadata, std::string_view key, Read&& read)
    -> std::optional<decltype(read(std::declval<const GgufValue&>()))> {
  const GgufValue* value = metadata.find(key);
  if (!value) return std::nullopt;
  return within(json_quoted(key), [&] { return read(*value); });
}

void check_single(const GgufValue& value) { expect(value, !value.is_array(), "one value"); }
void check_array(const GgufValue& value) { expect(value, value.is_array(), "an array"); }

}  // namespace

std::optional<std::int64_t> GgufMetadata::integer(std::string_view key) const {
  return value_of(*this, key, [](const GgufValue& value) { return check_single(value), value.integer(); });
}
std::optional<double> GgufMetadata::number(std::string_view key) const {
  return value_of(*this, key, [](const GgufValue& value) { return check_single(value), value.number(); });
}
std::optional<bool> GgufMetadata::boolean(std::string_view key) const {
  return value_of(*this, key, [](const GgufValue& value) { return check_single(value), value.flag(); });
}
std::optional<std::string> GgufMetadata::text(std::string_view key) const {
  return value_of(*this, key, [](const GgufValue& value) { return value.text(); });
}

const std::vector<std::string>& GgufMetadata::texts(std::string_view key) const {
  static const std::vector<std::string> none;
  return *value_of(*this, key, [](const GgufValue& value) { return &value.texts(); }).value_or(&none);
}

std::vector<double> GgufMetadata::numbers(std::string_view key) const {
  return value_of(*this, key,
                  [](const GgufValue& value) {
                    check_array(value);
                    std::vector<double> numbers;
                    for (std::size_t i = 0; i < value.size(); ++i) numbers.push_back(value.number(i));
                    return numbers;
                  })
      .value_or(std::vector<double>());
}

std::vector<std::int64_t> GgufMetadata::integers(std::string_view key) const {
  return value_of(*this, key,
                  [](const GgufValue& value) {
                    check_array(value);
                    std::vector<std::int64_t> numbers;
                    for (std::size_t i = 0; i < value.size(); ++i) numbers.push_back(value.integer(i));
                    return numbers;
                  })
      .value_or(std::vector<std::int64_t>());
}

std::optional<double> GgufMetadata::decimal(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value || value->type() != Type::f32) return number(key);
  return std::strtod(fmt::format("{}", static_cast<float>(value->number())).c_str(), nullptr);  // the shortest
}

}  // namespace attune
