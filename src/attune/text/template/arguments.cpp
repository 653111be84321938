#include "attune/text/template/arguments.h"

#include <algorithm>
#include <limits>

#include "attune/base/error.h"

namespace attune::jinja {

Arguments::Arguments(const Call& call, const Signature& signature)
    : values_(signature.names.size()), function_(signature.function) {
  check(call.positional.size() <= values_.size(), "{}() takes at most {} argument{} ({} given)", function_,
        values_.size(), values_.size() == 1 ? "" : "s", call.positional.size());
  for (std::size_t i = 0; i < call.positional.size(); ++i) values_[i] = &call.positional[i];
  for (const auto& [name, value] : call.named) {
    const auto* found = std::find(signature.names.begin(), signature.names.end(), name);
    check(found != signature.names.end(), "{}() got an unexpected keyword argument '{}'", function_, name);
    const Value*& to = values_[static_cast<std::size_t>(found - signature.names.begin())];
    check(to == nullptr, "{}() got multiple values for argument '{}'", function_, name);
    to = &value;
  }
  for (std::size_t i = 0; i < signature.required; ++i) {
    const std::string_view name = signature.names.begin()[i];
    check(values_[i] != nullptr, "{}() is missing its argument '{}'", function_,
          name.starts_with('/') ? name.substr(1) : name);
  }
}

Integer Arguments::whole(std::size_t place, Integer otherwise) const {
  return values_[place] ? as_whole(*values_[place]) : otherwise;
}

const std::string& Arguments::text(std::size_t place) const { return as_text(at(place), function_).bytes; }

Integer as_whole(const Value& value) {
  check_defined(value);
  const auto number = value.whole();
  check(number.has_value(), "'{}' object cannot be interpreted as an integer", type_name(value));
  return *number;
}

long as_place(const Value& value) {
  constexpr long most = std::numeric_limits<long>::max() / 4;
  return static_cast<long>(std::clamp<Integer>(as_whole(value), -most, most));
}

const Text& as_text(const Value& value, std::string_view what) {
  check(value.text() != nullptr, "{}() argument must be str, not {}", what, type_name(value));
  return *value.text();
}

}  // namespace attune::jinja
