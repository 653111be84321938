#include "attune/base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace attune {
namespace {

TEST(Log, MessagesReachTheSinkInOrderWithTheirLevel) {
  std::vector<std::pair<LogLevel, std::string>> seen;
  set_log_sink([&](LogLevel level, const std::string& message) { seen.emplace_back(level, message); });
  log_info("one");
  log_warning("two");
  set_log_sink(nullptr);
  log_warning("dropped");
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], std::make_pair(LogLevel::info, std::string("one")));
  EXPECT_EQ(seen[1], std::make_pair(LogLevel::warning, std::string("two")));
}

TEST(Log, ASinkMayLog) {
  int calls = 0;
  set_log_sink([&](LogLevel level, const std::string&) {
    ++calls;
    if (level == LogLevel::warning) log_info("from the sink");
  });
  log_warning("outer");
  set_log_sink(nullptr);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace attune
