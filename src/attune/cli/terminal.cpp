#include "attune/cli/terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

namespace attune {

namespace {

std::atomic<bool> interrupt_seen{false};

void on_signal(int signal) {
  if (interrupt_seen.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string duration_text(double seconds) {
  auto s = static_cast<long>(seconds + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

}  // namespace

Terminal::Terminal(Options options) : options_(options), on_terminal_(isatty(STDERR_FILENO) != 0) {
  set_log_sink([this](LogLevel level, const std::string& message) {
    bool shown = options_.quiet ? level >= LogLevel::error : level >= options_.level;
    if (!shown) return;
    clear_bar();
    const char* prefix = level == LogLevel::warning ? "attune: warning: "
                         : level == LogLevel::error ? "attune: error: "
                                                    : "";
    fmt::print(stderr, "{}{}\n", prefix, message);
  });
}

Terminal::~Terminal() {
  clear_bar();
  set_log_sink({});
}

Run Terminal::run() {
  Run run;
  run.cancel = &interrupt_seen;
  if (!options_.quiet) run.progress = [this](const Progress& now) { draw(now); };
  return run;
}

const std::atomic<bool>& Terminal::interrupted() { return interrupt_seen; }

void Terminal::forget_interrupt() { interrupt_seen = false; }

void Terminal::watch_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

void Terminal::clear_bar() {
  if (bar_shown_) std::fputs("\r\033[K", stderr);
  bar_shown_ = false;
}

void Terminal::draw(const Progress& now) {
  double clock = seconds_now();
  if (now.doing != doing_) doing_ = now.doing, began_ = clock, began_at_ = now.done, drawn_ = on_terminal_ ? 0 : clock;
  bool last = now.total > 0 && now.done >= now.total;
  if (clock - drawn_ < (on_terminal_ ? 0.1 : 10.0) && !(last && on_terminal_)) return;
  drawn_ = clock;
  double elapsed = clock - began_, rate = elapsed > 0 ? static_cast<double>(now.done - began_at_) / elapsed : 0;
  std::string left =
      now.total > 0 && rate > 0 ? ", " + duration_text(static_cast<double>(now.total - now.done) / rate) + " left" : "";
  std::string count = now.total > 0 ? fmt::format("{} of {} {}", now.done, now.total, now.unit)
                                    : fmt::format("{} {}", now.done, now.unit);
  std::string line =
      fmt::format("{}: {}, {:.1f}/s{}{}{}", now.doing, count, rate, left, now.detail.empty() ? "" : "; ", now.detail);
  if (!on_terminal_) {
    fmt::print(stderr, "{}\n", line);
    return;
  }
  constexpr int width = 20;
  int filled = now.total > 0 ? static_cast<int>(width * now.done / now.total) : 0;
  std::string bar = now.total > 0 ? "[" + std::string(static_cast<std::size_t>(filled), '=') +
                                        std::string(static_cast<std::size_t>(width - filled), ' ') + "] "
                                  : "";
  fmt::print(stderr, "\r\033[K{}{}", bar, line.substr(0, 150));
  std::fflush(stderr);
  bar_shown_ = true;
  if (last) {
    std::fputs("\n", stderr);
    bar_shown_ = false;
  }
}

}  // namespace attune
