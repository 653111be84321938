#include "attune/text/template/value.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "attune/base/error.h"
#include "attune/text/template/context.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

constexpr std::size_t few = 8;  // entries that are looked through one by one

void check_size(int depth, std::uint64_t weight) {
  check(depth <= deepest_value, "a value is nested deeper than {} levels", deepest_value);
  check(weight <= largest_value, "a value is larger than {} bytes", largest_value);
}

std::shared_ptr<const Sequence> sequence(Items items) {
  auto made = std::make_shared<Sequence>();
  for (const Value& item : items) {
    made->depth = std::max(made->depth, 1 + item.depth());
    made->weight += item.weight();
    check_size(made->depth, made->weight);
  }
  made->items = std::move(items);
  return made;
}

/// Over a list or tuple, from either end.
class SequenceIterator : public Iterator {
 public:
  explicit SequenceIterator(Value of) : Iterator(1 + of.depth()), of_(std::move(of)) {}
  std::string type_name() const override { return of_.list() ? "list_iterator" : "tuple_iterator"; }
  bool next(Context&, Value& to) override {
    const Items& items = *of_.items();
    if (place_ == items.size()) return false;
    to = items[place_++];
    return true;
  }

 private:
  Value of_;
  std::size_t place_ = 0;
};

class TextIterator : public Iterator {
 public:
  explicit TextIterator(Value of) : of_(std::move(of)) {}
  std::string type_name() const override { return "str_iterator"; }
  bool next(Context& context, Value& to) override {
    const Text& text = *of_.text();
    if (place_ == text.bytes.size()) return false;
    const std::size_t size = utf8_length(text.bytes[place_]);
    to = context.text(text.bytes.substr(place_, size), text.markup);
    place_ += size;
    return true;
  }

 private:
  Value of_;
  std::size_t place_ = 0;
};

class KeyIterator : public Iterator {
 public:
  explicit KeyIterator(Value of) : Iterator(1 + of.depth()), of_(std::move(of)) {}
  std::string type_name() const override { return "dict_keyiterator"; }
  bool next(Context&, Value& to) override {
    const Dict& dict = *of_.dict();
    if (place_ == dict.size()) return false;
    to = dict.entries()[place_++].first;
    return true;
  }

 private:
  Value of_;
  std::size_t place_ = 0;
};

class NoIterator : public Iterator {
 public:
  std::string type_name() const override { return "generator"; }
  bool next(Context&, Value&) override { return false; }
};

std::size_t mix(std::size_t a, std::size_t b) { return (a ^ (b + 0x9E3779B97F4A7C15 + (a << 6) + (a >> 2))); }

}  // namespace

Value Value::undefined(std::string message) {
  Value value;
  value.data_ = std::shared_ptr<const Undefined>(std::make_shared<Undefined>(Undefined{std::move(message)}));
  return value;
}

Value Value::truth(bool flag) {
  Value value;
  value.data_ = flag;
  return value;
}

Value Value::whole(Integer number) {
  Value value;
  value.data_ = number;
  return value;
}

Value Value::real(double number) {
  Value value;
  value.data_ = number;
  return value;
}

Value Value::text(std::string bytes, bool markup) {
  check_size(0, bytes.size());
  const std::size_t points = code_points(bytes);
  Value value;
  value.data_ = std::shared_ptr<const Text>(std::make_shared<Text>(Text{std::move(bytes), points, markup}));
  return value;
}

Value Value::list(Items items) {
  Value value;
  value.data_ = List{sequence(std::move(items))};
  return value;
}

Value Value::tuple(Items items) {
  Value value;
  value.data_ = Tuple{sequence(std::move(items))};
  return value;
}

Value Value::dict(Dict dict) {
  check_size(dict.depth(), dict.weight());
  Value value;
  value.data_ = std::shared_ptr<const Dict>(std::make_shared<Dict>(std::move(dict)));
  return value;
}

Value Value::object(std::shared_ptr<Object> object) {
  Value value;
  value.data_ = std::move(object);
  return value;
}

const Items* Value::list() const {
  const auto* held = std::get_if<List>(&data_);
  return held ? &held->data->items : nullptr;
}

const Items* Value::tuple() const {
  const auto* held = std::get_if<Tuple>(&data_);
  return held ? &held->data->items : nullptr;
}

std::shared_ptr<Object> Value::shared_object() const {
  const auto* held = std::get_if<std::shared_ptr<Object>>(&data_);
  return held ? *held : nullptr;
}

Object* Value::object() const {
  const auto* held = std::get_if<std::shared_ptr<Object>>(&data_);
  return held ? held->get() : nullptr;
}

std::optional<Integer> Value::whole() const {
  if (const bool* flag = boolean()) return *flag ? 1 : 0;
  if (const Integer* number = integer()) return *number;
  return {};
}

bool Value::same_as(const Value& other) const {
  if (data_.index() != other.data_.index()) return false;
  if (is_none()) return true;
  if (boolean()) return *boolean() == *other.boolean();
  if (integer()) return *integer() == *other.integer();
  if (real()) return *real() == *other.real();
  if (text()) return text() == other.text() || text()->bytes == other.text()->bytes;  // Python shares equal literals
  if (items()) return items() == other.items();
  if (dict()) return dict() == other.dict();
  if (object()) return object() == other.object();
  return undefined() == other.undefined();
}

int Value::depth() const {
  if (const auto* list = std::get_if<List>(&data_)) return list->data->depth;
  if (const auto* tuple = std::get_if<Tuple>(&data_)) return tuple->data->depth;
  if (dict()) return dict()->depth();
  return object() ? object()->depth() : 0;
}

std::uint64_t Value::weight() const {
  if (text()) return 1 + text()->bytes.size();
  if (const auto* list = std::get_if<List>(&data_)) return list->data->weight;
  if (const auto* tuple = std::get_if<Tuple>(&data_)) return tuple->data->weight;
  return dict() ? dict()->weight() : 1;
}

std::size_t Dict::place_of(const Value& key, std::size_t hash) const {
  if (places_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (same_key(entries_[i].first, key)) return i;
    return entries_.size();
  }
  const auto [begin, end] = places_.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (same_key(entries_[at->second].first, key)) return at->second;
  return entries_.size();
}

void Dict::set(const Value& key, Value value) {
  const std::size_t hash = hash_of(key);
  const std::size_t place = place_of(key, hash);
  depth_ = std::max({depth_, 1 + key.depth(), 1 + value.depth()});
  weight_ += key.weight() + value.weight();
  check_size(depth_, weight_);
  if (place < entries_.size()) {
    entries_[place].second = std::move(value);
    return;
  }
  entries_.emplace_back(key, std::move(value));
  if (!places_.empty()) {
    places_.emplace(hash, place);
  } else if (entries_.size() > few) {
    for (std::size_t i = 0; i < entries_.size(); ++i) places_.emplace(hash_of(entries_[i].first), i);
  }
}

const Value* Dict::find(const Value& key) const {
  const std::size_t place = place_of(key, hash_of(key));
  return place < entries_.size() ? &entries_[place].second : nullptr;
}

const Value* Dict::find(std::string_view key) const {
  if (places_.empty()) {
    for (const Entry& entry : entries_)
      if (const Text* text = entry.first.text(); text && text->bytes == key) return &entry.second;
    return nullptr;
  }
  const auto [begin, end] = places_.equal_range(std::hash<std::string_view>()(key));
  for (auto at = begin; at != end; ++at) {
    const Entry& entry = entries_[at->second];
    if (const Text* text = entry.first.text(); text && text->bytes == key) return &entry.second;
  }
  return nullptr;
}

Object::Object(int depth) : depth_(depth) { check_size(depth, 0); }

std::string Object::repr(Meter&) const { return "<" + type_name() + " object>"; }

Value Object::call(Context&, const Call&) { fail("'{}' object is not callable", type_name()); }

std::shared_ptr<Iterator> iterate(const Value& value) {
  if (value.items()) return std::make_shared<SequenceIterator>(value);
  if (value.dict()) return std::make_shared<KeyIterator>(value);
  if (value.text()) return std::make_shared<TextIterator>(value);
  if (value.undefined()) return std::make_shared<NoIterator>();
  std::shared_ptr<Iterator> found = value.object() ? value.object()->iterate() : nullptr;
  check(found != nullptr, "'{}' object is not iterable", type_name(value));
  return found;
}

Items items_of(Context& context, const Value& value) {
  if (value.items()) {
    context.make(value.items()->size(), sizeof(Value));
    return *value.items();
  }
  std::shared_ptr<Iterator> all = iterate(value);
  Items items;
  for (Value item; all->next(context, item);) {
    context.make(sizeof(Value));
    items.push_back(std::move(item));
  }
  return items;
}

Integer length_of(const Value& value) {
  if (value.text()) return static_cast<Integer>(value.text()->points);
  if (value.items()) return static_cast<Integer>(value.items()->size());
  if (value.dict()) return static_cast<Integer>(value.dict()->size());
  if (value.undefined()) return 0;
  std::optional<Integer> found = value.object() ? value.object()->length() : std::nullopt;
  check(found.has_value(), "object of type '{}' has no len()", type_name(value));
  return *found;
}

bool is_true(const Value& value) {
  if (value.boolean()) return *value.boolean();
  if (value.integer()) return *value.integer() != 0;
  if (value.real()) return *value.real() != 0;
  if (value.is_none() || value.undefined()) return false;
  if (value.object()) return value.object()->length().value_or(1) != 0;
  return length_of(value) != 0;
}

std::size_t hash_of(const Value& value) {
  if (value.text()) return std::hash<std::string_view>()(value.text()->bytes);
  if (auto number = value.whole()) return mix(7, static_cast<std::size_t>(*number));
  if (const double* number = value.real()) {
    // 1.0 is the same key as 1.
    if (std::abs(*number) < 1e30 && *number == std::floor(*number))
      return mix(7, static_cast<std::size_t>(static_cast<Integer>(*number)));
    return mix(11, std::hash<double>()(*number));
  }
  if (value.is_none()) return 13;
  if (value.undefined()) return 17;
  if (value.object()) return mix(19, std::hash<const void*>()(value.object()));
  check(value.tuple() != nullptr, "unhashable type: '{}'", type_name(value));
  check(value.weight() <= (std::uint64_t{1} << 20), "a tuple of {} bytes is too large for a key", value.weight());
  std::size_t hash = 23;
  for (const Value& item : *value.tuple()) hash = mix(hash, hash_of(item));
  return hash;
}

bool same_key(const Value& a, const Value& b) {
  if (a.text() || b.text()) return a.text() && b.text() && a.text()->bytes == b.text()->bytes;
  const auto x = a.whole(), y = b.whole();
  if (x && y) return *x == *y;
  if (a.real() && b.real()) return *a.real() == *b.real();
  if (a.real() && y) return *a.real() == static_cast<double>(*y);
  if (b.real() && x) return *b.real() == static_cast<double>(*x);
  if (a.undefined() && b.undefined()) return true;
  if (!a.tuple() || !b.tuple()) return a.same_as(b);
  return std::equal(a.tuple()->begin(), a.tuple()->end(), b.tuple()->begin(), b.tuple()->end(), same_key);
}

void check_defined(const Value& value) {
  if (value.undefined()) throw Error(value.undefined()->message);
}

}  // namespace attune::jinja
