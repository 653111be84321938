#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace attune {

/// How far a long call is. `total` is 0 where it is not known.
struct Progress {
  std::string doing;      // "training", "tokenising"
  std::int64_t done = 0;  // in `unit`s
  std::int64_t total = 0;
  std::string unit;    // "tokens", "documents", "steps"
  std::string detail;  // "loss 1.23", may be empty
};

/// What a long call is given: where to tell its progress and when to stop. A default Run tells nobody and never stops.
struct Run {
  std::function<void(const Progress&)> progress;
  const std::atomic<bool>* cancel = nullptr;

  void report(const Progress& now) const {
    if (progress) progress(now);
  }
  /// True once the caller asked to stop: save what there is, then throw Cancelled.
  bool cancelled() const { return cancel && cancel->load(std::memory_order_relaxed); }
};

}  // namespace attune
