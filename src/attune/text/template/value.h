#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "attune/text/template/meter.h"

/// The values of a template language that is defined by Python's: what they are, print and do is what Python's do.
namespace attune::jinja {

/// Python's int has no bound. Beyond 128 bits an operation is refused: no wrong digit is ever printed.
__extension__ typedef __int128 Integer;

class Context;
class Dict;
class Iterator;
class Object;
class Value;
using Items = std::vector<Value>;

/// Deeper values, and larger ones (counting each text's bytes and each item each time that it stands there), are
/// refused when they are made: whatever walks over a value ends.
inline constexpr int deepest_value = 100;
inline constexpr std::uint64_t largest_value = std::uint64_t{1} << 28;

struct None {};

/// The value of what is not there. It prints as nothing and is false; to use it otherwise is an Error: the message.
struct Undefined {
  std::string message;
};

/// UTF-8. Markup is text that counts as escaped: "safe" and "escape" give it, and joining a plain text to it escapes
/// that.
struct Text {
  std::string bytes;
  std::size_t points = 0;  // code points
  bool markup = false;
  bool ascii() const { return points == bytes.size(); }
};

/// Of lists and tuples.
struct Sequence {
  Items items;
  int depth = 1;
  std::uint64_t weight = 1;
};

/// One value. Copies share what they hold, and nothing shared ever changes, but for Objects.
class Value {
 public:
  Value() = default;  // none
  static Value undefined(std::string message);
  static Value truth(bool value);
  static Value whole(Integer value);
  static Value real(double value);
  static Value text(std::string bytes, bool markup = false);
  static Value list(Items items);
  static Value tuple(Items items);
  static Value dict(Dict dict);
  static Value object(std::shared_ptr<Object> object);

  bool is_none() const { return std::holds_alternative<None>(data_); }
  /// Null where the value is something else.
  const Undefined* undefined() const { return shared<Undefined>(); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const Integer* integer() const { return std::get_if<Integer>(&data_); }
  const double* real() const { return std::get_if<double>(&data_); }
  const Text* text() const { return shared<Text>(); }
  const Items* list() const;
  const Items* tuple() const;
  const Items* items() const { return list() ? list() : tuple(); }  // of a list or tuple
  const Dict* dict() const { return shared<Dict>(); }
  Object* object() const;
  template <class T>
  T* object_of() const {
    return dynamic_cast<T*>(object());
  }
  std::shared_ptr<Object> shared_object() const;

  /// An int, or a bool as Python counts with it.
  std::optional<Integer> whole() const;
  /// Python's "is": the same thing, not an equal one.
  bool same_as(const Value& other) const;

  int depth() const;             // 0 for what holds no other value
  std::uint64_t weight() const;  // what walking over all of it costs

 private:
  struct List {
    std::shared_ptr<const Sequence> data;
  };
  struct Tuple {
    std::shared_ptr<const Sequence> data;
  };
  template <class T>
  const T* shared() const {
    const auto* held = std::get_if<std::shared_ptr<const T>>(&data_);
    return held ? held->get() : nullptr;
  }

  std::variant<None, bool, Integer, double, std::shared_ptr<const Undefined>, std::shared_ptr<const Text>, List, Tuple,
               std::shared_ptr<const Dict>, std::shared_ptr<Object>>
      data_;
};

/// Keys in the order in which they came. Throws Error where a key can't be one (Python: "unhashable").
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  /// A key that is there keeps its place.
  void set(const Value& key, Value value);
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  int depth() const { return depth_; }
  std::uint64_t weight() const { return weight_; }

 private:
  std::size_t place_of(const Value& key, std::size_t hash) const;

  std::vector<Entry> entries_;
  std::unordered_multimap<std::size_t, std::size_t> places_;  // of a hash; empty while there are few entries
  int depth_ = 1;
  std::uint64_t weight_ = 1;
};

/// A function's arguments: by place, and by name.
struct Call {
  Items positional = {};
  std::vector<std::pair<std::string, Value>> named = {};
};

/// What is neither plain data nor text: namespaces, macros, methods, iterators, ranges, views of dicts.
class Object : public std::enable_shared_from_this<Object> {
 public:
  explicit Object(int depth = 1);  // throws Error beyond deepest_value
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  virtual std::string type_name() const = 0;  // Python's
  virtual std::string repr(Meter& meter) const;
  virtual std::optional<Value> attribute(Context&, std::string_view) { return {}; }
  virtual std::optional<Integer> length() const { return {}; }
  virtual std::optional<Value> item(Integer) const { return {}; }  // by place; of what has_items
  virtual bool has_items() const { return false; }
  virtual std::shared_ptr<Iterator> iterate() { return nullptr; }  // null: can't be iterated over
  virtual bool callable() const { return false; }
  virtual Value call(Context&, const Call&);  // Error unless callable
  int depth() const { return depth_; }

 private:
  int depth_;
};

/// Gives its values once, one by one: Python's generators and iterators.
class Iterator : public Object {
 public:
  using Object::Object;
  virtual bool next(Context& context, Value& to) = 0;  // false at the end
  std::shared_ptr<Iterator> iterate() override { return std::static_pointer_cast<Iterator>(shared_from_this()); }
};

/// Over all values of anything that has some: a text's characters, a dict's keys. Throws Error, as Python words it,
/// where there are none to have ("'int' object is not iterable").
std::shared_ptr<Iterator> iterate(const Value& value);
Items items_of(Context& context, const Value& value);
/// Python's len().
Integer length_of(const Value& value);

bool is_true(const Value& value);
/// Equal keys of a dict have equal hashes; the Error of Dict for what can't be one.
std::size_t hash_of(const Value& value);
bool same_key(const Value& a, const Value& b);

/// Python's type(value).__name__, and as Jinja names it in messages ("dict object", "None").
std::string type_name(const Value& value);
std::string described_type(const Value& value);

/// Python's str() and repr().
std::string to_text(const Value& value, Meter& meter);
std::string repr(const Value& value, Meter& meter);
std::string repr(std::string_view text);
std::string repr(double value);
std::string digits_of(Integer value);

/// Throws the Undefined's Error if the value is one.
void check_defined(const Value& value);

}  // namespace attune::jinja
