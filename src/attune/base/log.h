#pragma once

#include <functional>
#include <string>

namespace attune {

/// How much a reader needs a message; `warning` and above are shown unless --quiet.
enum class LogLevel { debug, info, warning, error };

/// Where messages go. The library never prints: without a sink they are dropped. `cli` sets one that writes to stderr.
using LogSink = std::function<void(LogLevel, const std::string&)>;

void set_log_sink(LogSink sink);
void log(LogLevel level, const std::string& message);
inline void log_info(const std::string& message) { log(LogLevel::info, message); }
inline void log_warning(const std::string& message) { log(LogLevel::warning, message); }

}  // namespace attune
