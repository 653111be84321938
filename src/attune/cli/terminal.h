#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "attune/base/log.h"
#include "attune/base/run.h"

namespace attune {

/// Progress and log on stderr: a bar with rate and time left on a terminal, a line every 10 s elsewhere, nothing when
/// quiet.
class Terminal {
 public:
  struct Options {
    bool quiet = false;
    LogLevel level = LogLevel::info;
  };
  explicit Terminal(Options options);
  ~Terminal();

  Run run();
  /// Set by Ctrl-C (SIGINT) or SIGTERM; a second signal ends the program at once.
  static const std::atomic<bool>& interrupted();
  static void watch_signals();
  /// The signal was heeded and the program goes on: the next one is a first again.
  static void forget_interrupt();

 private:
  void draw(const Progress& now);
  void clear_bar();

  Options options_;
  bool on_terminal_;
  bool bar_shown_ = false;
  std::string doing_;
  double began_ = 0, drawn_ = 0;
  std::int64_t began_at_ = 0;  // how much was done then: a resumed run has done some before
};

}  // namespace attune
