#pragma once

/// nlohmann's values, for the sources that build or walk them. What nlohmann would assert or throw of its own (a key
/// that is not there, a value of another kind) is a fault of the file that the value came from: here it is an Error.
/// Stands in the place of <nlohmann/json.hpp> everywhere, so that all of the program agrees.
#include "attune/base/json.h"

namespace attune {

/// Throws Error with nlohmann's words.
[[noreturn]] void fail_json(const char* what);

}  // namespace attune

#define JSON_THROW_USER(exception) ::attune::fail_json((exception).what())
#define JSON_ASSERT(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::attune::fail_json("there is no such key or place in it"))

#include <nlohmann/json.hpp>
