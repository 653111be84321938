#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "attune/text/template/context.h"

namespace attune::jinja {

/// Jinja's namespace(): attributes that any part of a template may set.
class Namespace : public Object, public Changeable {
 public:
  Namespace() : Object(0) {}
  std::string type_name() const override { return "namespace"; }
  std::string repr(Meter& meter) const override;
  std::optional<Value> attribute(Context&, std::string_view name) override;
  void set(Context& context, const std::string& name, Value value);
  void clear() override { attributes_ = {}; }

 private:
  std::vector<std::pair<std::string, Value>> attributes_;
};

/// What every template may call: range, dict, namespace, cycler, joiner, raise_exception, and strftime_now where the
/// time is known.
std::vector<std::pair<std::string, Value>> global_functions(const std::optional<std::tm>& now);

/// As Python's datetime.strftime in the C locale, of a time without a zone.
std::string format_time(const std::string& format, const std::tm& time);

}  // namespace attune::jinja
