#pragma once

#include "attune/text/template/context.h"

namespace attune::jinja {

enum class Operator { add, subtract, multiply, divide, floor_divide, modulo, power };

/// A Python operator. Throws Error, as Python words it, for types that it is not made for, by zero, and beyond 128
/// bits.
Value apply(Context& context, Operator op, const Value& left, const Value& right);
Value negative(const Value& value);
Value positive(const Value& value);

enum class Comparison { equal, unequal, less, less_equal, greater, greater_equal, in, not_in };
bool compare(Context& context, Comparison comparison, const Value& left, const Value& right);
bool equal(Context& context, const Value& left, const Value& right);
/// For sorting: left < right.
bool less(Context& context, const Value& left, const Value& right);
bool contains(Context& context, const Value& collection, const Value& item);

/// Text with <, >, &, ' and " as HTML has them; markup as it is.
Value escaped(Context& context, const Value& value);

}  // namespace attune::jinja
