#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attune/text/template/meter.h"
#include "attune/text/template/value.h"

namespace attune::jinja {

/// What a template may change while it is rendered, and so could make to hold itself.
class Changeable {
 public:
  virtual ~Changeable() = default;
  virtual void clear() = 0;
};

/// One rendering: what it has cost, where it is, and what must be taken apart at its end.
class Context : public Meter {
 public:
  explicit Context(const Limits& limits) : Meter(limits) {}
  ~Context() {
    for (const auto& one : kept_) one->clear();
  }

  /// Values whose memory is counted.
  Value text(std::string bytes, bool markup = false) {
    make(bytes.size() + sizeof(Text));
    return Value::text(std::move(bytes), markup);
  }
  Value list(Items items) {
    make(items.size(), sizeof(Value));
    return Value::list(std::move(items));
  }
  Value tuple(Items items) {
    make(items.size(), sizeof(Value));
    return Value::tuple(std::move(items));
  }

  /// Cleared at the end: what holds itself would never be freed, and a chain of a million links would be freed by as
  /// many calls within each other.
  void keep(std::shared_ptr<Changeable> one) {
    make(64);
    kept_.push_back(std::move(one));
  }

  int line = 1;  // of the template: what is being done

 private:
  std::vector<std::shared_ptr<Changeable>> kept_;
};

}  // namespace attune::jinja
