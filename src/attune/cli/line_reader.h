#pragma once

#include <string>

#include "attune/base/run.h"

namespace attune {

/// Standard input, a line at a time, as it comes. Where it is a terminal, Ctrl-C ends the waiting.
class LineReader {
 public:
  enum class Outcome { line, end, interrupted };

  /// The next line without its end, when there is one. Throws Error where it cannot be read, or a line is longer than
  /// 64 MB.
  Outcome next(const Run& run, std::string& line);

 private:
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace attune
