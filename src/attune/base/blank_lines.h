#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "attune/base/log.h"

namespace attune {

/// The lines of a file that are passed over because they are blank: results are then fewer than lines.
class BlankLines {
 public:
  void add(std::int64_t line) {
    if (count_++ == 0) first_ = line;
  }
  /// One warning, where there were any.
  void tell(const std::string& source) const {
    if (count_ == 1) log_warning(fmt::format("{}: a blank line is passed over: line {}", source, first_));
    if (count_ > 1)
      log_warning(fmt::format("{}: {} blank lines are passed over, the first is line {}", source, count_, first_));
  }

 private:
  std::int64_t count_ = 0, first_ = 0;
};

}  // namespace attune
