#pragma once

#include "attune/base/error.h"

namespace attune {

/// What was asked for is wrong whatever the files hold: a value that an option can not have, options that exclude or
/// need one another. The program exits with status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Throws UsageError with a formatted message unless `holds`.
template <class... Args>
void check_usage(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace attune
