#pragma once

#include <string>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/nn/position/positions.h"

/// What the tests of position methods build them with.
namespace attune {

/// Parameters that a test gives their values by name.
struct GivenParameters {
  ParameterSet set{WeightSource{.checkpoint = {}, .initial = {}, .trainable = true}, NameRules{}};
  Weights w{set};

  void fill(const std::string& name, const Tensor& values) const {
    check(set.find(name) != nullptr, "there is no parameter {}", name);
    copy_into(values, set.find(name)->value);
    set.find(name)->value.mark_changed();
  }
  Tensor gradient(const std::string& name) const { return gradient_of(set.find(name)->value); }
};

/// The method that `config`, the "positions" of a model, names; a key that it does not know is an Error.
inline PositionParts build_whole(const Json& config, const PositionUse& use, const Weights& w) {
  const ConfigReader reader(config, "positions");
  PositionParts parts = build_positions(reader, use, w);
  reader.finish();
  return parts;
}

}  // namespace attune
