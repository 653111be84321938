#include "attune/base/json.h"

#include <algorithm>
#include <unordered_set>
#include <vector>
#include "attune/base/json_values.h"

#include "attune/base/error.h"

namespace attune {

JsonValue::JsonValue() : value_(std::make_shared<const Json>()) {}
JsonValue::JsonValue(const Json& value) : value_(std::make_shared<const Json>(value)) {}

void fail_json(const char* what) {
  // "[json.exception.type_error.302] type must be number, but is null"
  std::string_view words = what;
  if (words.starts_with('['))
    if (const std::size_t end = words.find("] "); end != words.npos) words.remove_prefix(end + 2);
  fail("a JSON value is not what it should be: {}", words);
}

namespace {

constexpr std::size_t deepest = 200;

[[noreturn]] void fail_at(std::string_view text, std::size_t place, const std::string& source,
                          const std::string& what) {
  std::string_view before = text.substr(0, std::min(place, text.size()));
  auto line = 1 + std::count(before.begin(), before.end(), '\n');
  std::size_t column = place - (before.rfind('\n') + 1) + 1;  // rfind's "not found" + 1 is 0
  fail("{}: line {}, column {}: {}", source, line, column, what);
}

/// Tells the parser's place to the handler below: nlohmann's events carry none.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** place;

  const char& operator*() const { return *at; }
  CountingIterator& operator++() {
    *place = ++at;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

/// Builds the value. nlohmann's own builder looks through all earlier keys of an ordered object for each new one, which
/// takes minutes for a vocabulary; and it accepts a key given twice.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& source, const char** place)
      : text_(text), source_(source), place_(place) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (!open_.back().keys.insert(name).second)
      fail_at(text_, here(), source_, fmt::format("the key {} is given twice", json_quoted(name)));
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t place, const std::string&, const nlohmann::detail::exception& error) override {
    std::string what = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing ..."
    for (const char* start : {"syntax error", "number overflow"})
      if (auto found = what.find(start); found != std::string::npos) what = what.substr(found);
    fail_at(text_, place == 0 ? here() : place - 1, source_, what);
  }

 private:
  struct Open {
    Json* value;
    std::unordered_set<std::string> keys;
  };

  std::size_t here() const {
    auto read = static_cast<std::size_t>(*place_ - text_.data());
    return read == 0 ? 0 : read - 1;
  }

  Json* place_value(Json&& value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back().value;
    if (parent.is_array()) {
      auto& items = parent.get_ref<Json::array_t&>();
      items.push_back(std::move(value));
      return &items.back();
    }
    auto& members = parent.get_ref<Json::object_t&>();
    members.emplace_back(std::move(key_), std::move(value));
    return &members.back().second;
  }

  bool add(Json&& value) {
    place_value(std::move(value));
    return true;
  }

  // The addresses of open values stay: their parent gets no further member until they are closed.
  bool open(Json&& value) {
    if (open_.size() == deepest) fail_at(text_, here(), source_, fmt::format("nested deeper than {} levels", deepest));
    open_.push_back({place_value(std::move(value)), {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& source_;
  const char** place_;
  Json root_;
  std::string key_;
  std::vector<Open> open_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& source) {
  if (auto nul = text.find('\0'); nul != std::string_view::npos)
    fail_at(text, nul, source, "a NUL byte: this is not JSON text");
  const char* place = text.data();
  Builder builder(text, source, &place);
  CountingIterator begin{text.data(), &place}, end{text.data() + text.size(), &place};
  Json::sax_parse(begin, end, &builder);  // faults are thrown by the builder
  return builder.take();
}

Json read_json(const Path& path) { return parse_json(read_file(path), path.string()); }

std::string to_text(const Json& value, int indent) {
  try {
    return value.dump(indent);
  } catch (const Error&) {
    fail("writing JSON: a string in it is not valid UTF-8");
  }
}

std::string json_quoted(std::string_view text) {
  std::string quoted;
  append_quoted(quoted, text);
  return quoted;
}

void append_quoted(std::string& json, std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  // Letters that stand for themselves; a vocabulary has hundreds of thousands.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = byte(i);
    if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') continue;
    const bool two_bytes = c >= 0xC2 && c <= 0xDF && i + 1 < text.size() && (byte(i + 1) & 0xC0) == 0x80;
    if (!two_bytes) {
      json += to_text(Json(text));
      return;
    }
    ++i;
  }
  json += '"';
  json += text;
  json += '"';
}

}  // namespace attune
