#include "attune/base/log.h"

#include <memory>
#include <mutex>
#include <utility>

namespace attune {

namespace {

struct SharedSink {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink;
};

SharedSink& shared_sink() {
  static SharedSink shared;
  return shared;
}

}  // namespace

void set_log_sink(LogSink sink) {
  auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  std::lock_guard lock(shared_sink().mutex);
  shared_sink().sink = std::move(next);
}

void log(LogLevel level, const std::string& message) {
  std::shared_ptr<const LogSink> sink;
  {
    std::lock_guard lock(shared_sink().mutex);
    sink = shared_sink().sink;
  }
  // Outside the lock, so that a sink may itself log or be replaced.
  if (sink) (*sink)(level, message);
}

}  // namespace attune
