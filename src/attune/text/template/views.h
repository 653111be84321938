#pragma once

#include <functional>

#include "attune/text/template/context.h"

namespace attune::jinja {

/// A function that templates can call.
class Function : public Object {
 public:
  using Body = std::function<Value(Context&, const Call&)>;
  Function(std::string name, Body body, int depth = 1)
      : Object(depth), name_(std::move(name)), body_(std::move(body)) {}
  std::string type_name() const override { return "function"; }
  std::string repr(Meter&) const override { return "<function " + name_ + ">"; }
  bool callable() const override { return true; }
  Value call(Context& context, const Call& call) override { return body_(context, call); }

 private:
  std::string name_;
  Body body_;
};

/// What a method of a value does.
using Method = Value (*)(Context& context, const Value& self, const Call& call);
/// Null where a type has no such method.
Method find_text_method(std::string_view name);
Method find_dict_method(std::string_view name);
Method find_sequence_method(std::string_view name);  // of lists and tuples

/// Python's generators: values that are made when they are asked for.
class Generator : public Iterator {
 public:
  using Body = std::function<bool(Context&, Value&)>;
  Generator(int depth, Body body, std::string type = "generator")
      : Iterator(depth), body_(std::move(body)), type_(std::move(type)) {}
  std::string type_name() const override { return type_; }
  bool next(Context& context, Value& to) override;

 private:
  Body body_;
  std::string type_;
};
/// `source`: what the body holds.
Value generator(const Value& source, Generator::Body body);

/// Python's range().
class WholeRange : public Object {
 public:
  WholeRange(Integer first, Integer end, Integer step);
  std::string type_name() const override { return "range"; }
  std::string repr(Meter&) const override;
  std::optional<Integer> length() const override { return count_; }
  bool has_items() const override { return true; }
  std::optional<Value> item(Integer place) const override { return Value::whole(first_ + place * step_); }
  std::shared_ptr<Iterator> iterate() override;
  bool operator==(const WholeRange& other) const;
  /// Every `step`-th of `count` values from place `first` on.
  std::shared_ptr<WholeRange> part(Integer first, Integer step, Integer count) const;

 private:
  Integer first_, end_, step_, count_;
};

/// A dict's keys(), values() or items().
class DictView : public Object {
 public:
  enum class Kind { keys, values, items };
  DictView(Value dict, Kind kind) : Object(1 + dict.depth()), dict_(std::move(dict)), kind_(kind) {}
  std::string type_name() const override;
  std::string repr(Meter& meter) const override;
  std::optional<Integer> length() const override { return static_cast<Integer>(dict_.dict()->size()); }
  std::shared_ptr<Iterator> iterate() override;
  Value at(Context& context, std::size_t place) const;

 private:
  Value dict_;
  Kind kind_;
};

/// Python's reversed(): null where it refuses the type.
std::shared_ptr<Iterator> reversed(const Value& value);

bool equal_objects(Context& context, const Value& left, const Value& right);

/// value.name and value[key] as Jinja looks them up: the one falls back to the other, and what is not there is an
/// Undefined that says so. Throws Error where the value itself is undefined.
Value get_attribute(Context& context, const Value& value, std::string_view name);
Value get_item(Context& context, const Value& value, const Value& key);
/// What Python's getattr gives: methods, never a dict's entries; nothing where there is none.
std::optional<Value> own_attribute(Context& context, const Value& value, std::string_view name);
/// The Undefined of an attribute that there is not.
Value no_attribute(const Value& value, std::string_view name);
/// value[first:end:step]; each may be none.
struct Slice {
  Value first, end, step;
};
Value get_slice(Context& context, const Value& value, const Slice& slice);

/// Throws Error "'TYPE' object is not callable".
Value call_value(Context& context, const Value& function, const Call& call);

}  // namespace attune::jinja
