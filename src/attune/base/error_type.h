#pragma once

#include <stdexcept>

namespace attune {

/// A user's or a file's fault. The message says what was being done, where, and what to do next, in one line:
/// "reading model/config.json: \"hidden_size\" is \"foo\": expected a whole number".
/// Faults of the programmer are assertions, not Errors. The library throws nothing else of its own. It is what C++
/// programs catch, too (api/attune.h), so that this file is installed and needs the standard library alone.
class __attribute__((visibility("default"))) Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace attune
