#include <algorithm>
#include <cmath>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/functions.h"
#include "attune/text/template/operators.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

struct Style {
  bool ascii = false, sorted = false;
  std::optional<std::string> indent = {};
  std::string item_separator = ", ", key_separator = ": ";
};

std::string real_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return repr(value);
}

class Writer {
 public:
  Writer(Context& context, const Style& style) : context_(context), style_(style) {}

  std::string take() { return std::move(to_); }

  void value(const Value& value, int level) {
    context_.step();
    if (const Text* text = value.text()) return string(text->bytes);
    if (value.is_none()) return put("null");
    if (value.boolean()) return put(*value.boolean() ? "true" : "false");
    if (value.integer()) return put(digits_of(*value.integer()));
    if (value.real()) return put(real_text(*value.real()));
    if (value.items()) return list(*value.items(), level);
    if (value.dict()) return dict(*value.dict(), level);
    fail("Object of type {} is not JSON serializable", type_name(value));
  }

 private:
  void put(std::string_view text) {
    context_.make(text.size());
    to_ += text;
  }

  void line(int level) {
    if (!style_.indent) return;
    context_.make(static_cast<std::uint64_t>(level), style_.indent->size());
    to_ += '\n';
    for (int i = 0; i < level; ++i) to_ += *style_.indent;
  }

  void list(const Items& items, int level) {
    if (items.empty()) return put("[]");
    put("[");
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) put(style_.item_separator);
      line(level + 1);
      value(items[i], level + 1);
    }
    line(level);
    put("]");
  }

  void dict(const Dict& dict, int level) {
    if (dict.size() == 0) return put("{}");
    std::vector<const Dict::Entry*> entries;
    for (const Dict::Entry& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sorted)
      std::stable_sort(entries.begin(), entries.end(),
                       [&](const auto* a, const auto* b) { return less(context_, a->first, b->first); });
    put("{");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) put(style_.item_separator);
      line(level + 1);
      key(entries[i]->first);
      put(style_.key_separator);
      value(entries[i]->second, level + 1);
    }
    line(level);
    put("}");
  }

  void key(const Value& key) {
    if (key.text()) return string(key.text()->bytes);
    if (key.boolean()) return string(*key.boolean() ? "true" : "false");
    if (key.is_none()) return string("null");
    if (key.integer()) return string(digits_of(*key.integer()));
    check(key.real() != nullptr, "keys must be str, int, float, bool or None, not {}", type_name(key));
    string(real_text(*key.real()));
  }

  void string(std::string_view text) {
    context_.make(text.size() + 2);
    to_ += '"';
    for (std::size_t place = 0; place < text.size();) {
      const std::size_t from = place;
      const auto point = static_cast<std::uint32_t>(next_code_point(text, place));
      switch (point) {
        case '"':
          to_ += "\\\"";
          break;
        case '\\':
          to_ += "\\\\";
          break;
        case '\n':
          to_ += "\\n";
          break;
        case '\r':
          to_ += "\\r";
          break;
        case '\t':
          to_ += "\\t";
          break;
        case '\f':
          to_ += "\\f";
          break;
        case '\b':
          to_ += "\\b";
          break;
        default:
          if (point < 0x20 || (style_.ascii && point > 0x7E && point < 0x10000))
            to_ += fmt::format("\\u{:04x}", point);
          else if (style_.ascii && point >= 0x10000)
            to_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((point - 0x10000) >> 10),
                               0xDC00 + ((point - 0x10000) & 0x3FF));
          else
            to_ += text.substr(from, place - from);
      }
    }
    to_ += '"';
  }

  Context& context_;
  const Style& style_;
  std::string to_;
};

}  // namespace

Value to_json(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "tojson", .names = {"ensure_ascii", "indent", "separators", "sort_keys"}});
  Style style{.ascii = a.flag(0, false), .sorted = a.flag(3, false)};
  if (const Value* indent = a.unless_none(1)) {
    const long width = indent->text() ? 0 : std::max(0L, as_place(*indent));
    context.make(static_cast<std::uint64_t>(width));
    style.indent = indent->text() ? indent->text()->bytes : std::string(static_cast<std::size_t>(width), ' ');
    style.item_separator.assign(1, ',');
  }
  if (const Value* separators = a.unless_none(2)) {
    const Items both = items_of(context, *separators);
    check(both.size() == 2 && both[0].text() && both[1].text(), "separators must be two texts");
    style.item_separator = both[0].text()->bytes;
    style.key_separator = both[1].text()->bytes;
  }
  Writer writer(context, style);
  writer.value(value, 0);
  return context.text(writer.take());
}

}  // namespace attune::jinja
