#pragma once

#include "attune/text/template/statements.h"

namespace attune::jinja {

/// The name "loop" in a loop's body. It looks one item ahead only where it is asked what comes, and walks over all of
/// them only where it is asked how many there are of what has no length.
class Loop : public Object, public Changeable {
 public:
  /// `repeats`: of a recursive loop, which loop(values) runs again for other values, seeing the names of `outside`.
  struct Repeats {
    const For* statement = nullptr;
    std::shared_ptr<Scope> outside = {};
  };
  Loop(Value values, int level, Repeats repeats);

  bool next(Context& context, Value& to);

  std::string type_name() const override { return "LoopContext"; }
  std::string repr(Meter&) const override { return "<LoopContext>"; }
  std::optional<Value> attribute(Context& context, std::string_view name) override;
  std::optional<Integer> length() const override { return length_; }
  bool callable() const override { return true; }
  Value call(Context& context, const Call& call) override;
  void clear() override { last_changed_.reset(); }

 private:
  bool peek(Context& context);
  Integer count(Context& context);
  Value cycle(const Call& call) const;
  bool changed(Context& context, const Call& call);

  Value values_;
  std::shared_ptr<Iterator> iterator_;
  int level_;
  Repeats repeats_;
  Integer index_ = -1;  // from 0
  std::optional<Integer> length_;
  std::optional<Value> after_, current_, before_;
  std::optional<Items> last_changed_;
};

}  // namespace attune::jinja
