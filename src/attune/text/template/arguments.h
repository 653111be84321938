#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "attune/text/template/context.h"

namespace attune::jinja {

/// A call's arguments under the names of a function's parameters, in their order. Throws Error, as Python words it,
/// where there are too many, an unknown or a doubled one.
class Arguments {
 public:
  struct Signature {
    std::string_view function;
    std::initializer_list<std::string_view> names;  // all of them may be given by name; "/x": by place alone
    std::size_t required = 0;                       // how many of the first must be given
  };
  Arguments(const Call& call, const Signature& signature);

  /// Null where it is not given, or none where that means the same.
  const Value* get(std::size_t place) const { return values_[place]; }
  const Value& at(std::size_t place) const { return *values_[place]; }
  const Value* unless_none(std::size_t place) const {
    return values_[place] && !values_[place]->is_none() ? values_[place] : nullptr;
  }

  bool flag(std::size_t place, bool otherwise) const { return values_[place] ? is_true(*values_[place]) : otherwise; }
  /// Throws Error unless an int or bool.
  Integer whole(std::size_t place, Integer otherwise) const;
  /// Throws Error unless text.
  const std::string& text(std::size_t place) const;

 private:
  std::vector<const Value*> values_;
  std::string_view function_;
};

/// A whole number as a function takes it, else the Error of Python.
Integer as_whole(const Value& value);
/// The same within `long`: what is beyond is as far as one can get.
long as_place(const Value& value);
/// The text of what must be a str.
const Text& as_text(const Value& value, std::string_view what);

}  // namespace attune::jinja
