#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attune/text/template/context.h"

namespace attune::jinja {

using NameId = int;

/// A template's names by number.
class Names {
 public:
  NameId id(const std::string& name) {
    const auto [found, fresh] = ids_.emplace(name, static_cast<NameId>(ids_.size()));
    return found->second;
  }
  const std::unordered_map<std::string, NameId>& all() const { return ids_; }

 private:
  std::unordered_map<std::string, NameId> ids_;
};

/// The names that were set in one part of a template; outside of it others are seen through it.
class Scope : public Changeable {
 public:
  explicit Scope(std::shared_ptr<Scope> outer) : outer_(std::move(outer)) {}

  const Value* find(NameId name) const {
    for (const Scope* scope = this; scope; scope = scope->outer_.get())
      for (const auto& [id, value] : scope->values_)
        if (id == name) return &value;
    return nullptr;
  }
  void set(NameId name, Value value) {
    for (auto& [id, old] : values_) {
      if (id != name) continue;
      old = std::move(value);
      return;
    }
    values_.emplace_back(name, std::move(value));
  }
  /// A macro or a generator that outlives this part sees the names still.
  void capture(Context& context) {
    for (Scope* scope = this; scope && !scope->captured_; scope = scope->outer_.get()) {
      scope->captured_ = true;
      context.keep(scope->self_.lock());
    }
  }
  bool captured() const { return captured_; }
  /// No names, as at the beginning.
  void clear() override { values_.clear(); }

  static std::shared_ptr<Scope> inside(std::shared_ptr<Scope> outer) {
    auto made = std::make_shared<Scope>(std::move(outer));
    made->self_ = made;
    return made;
  }

 private:
  std::vector<std::pair<NameId, Value>> values_;
  std::shared_ptr<Scope> outer_;
  std::weak_ptr<Scope> self_;
  bool captured_ = false;
};

}  // namespace attune::jinja
