#include "attune/report/numbers.h"

#include <fmt/core.h>

#include <cmath>

namespace attune::report {

namespace {

const std::string dash = "–";

/// "-0.000" says nothing: zero has no sign here.
std::string without_negative_zero(std::string text) {
  return text.find_first_of("123456789") == std::string::npos && !text.empty() && text[0] == '-' ? text.substr(1)
                                                                                                 : text;
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string fixed(double value, int decimals) {
  return std::isfinite(value) ? without_negative_zero(fmt::format("{:.{}f}", value, decimals)) : dash;
}

std::string percent(double fraction, int decimals) {
  return std::isfinite(fraction) ? fixed(100 * fraction, decimals) + " %" : dash;
}

std::string with_thousands(std::int64_t value) {
  const std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string range(double low, double high, int decimals) {
  return std::isfinite(low) && std::isfinite(high) ? fixed(low, decimals) + " to " + fixed(high, decimals) : dash;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return dash;
  const double size = std::fabs(value);
  if (size == 0) return "0";
  if (size >= 1e9) return without_trailing_zeros(fmt::format("{:.2f}", value / 1e9)) + "G";
  if (size >= 1e6) return without_trailing_zeros(fmt::format("{:.2f}", value / 1e6)) + "M";
  if (size >= 1e4) return without_trailing_zeros(fmt::format("{:.1f}", value / 1e3)) + "k";
  if (size >= 1e-3) return without_trailing_zeros(fmt::format("{:.{}f}", value, size >= 100 ? 0 : size >= 1 ? 2 : 4));
  return fmt::format("{:.1e}", value);
}

std::string counted(std::int64_t n, const std::string& thing) {
  return with_thousands(n) + " " + thing + (n == 1 ? "" : "s");
}

}  // namespace attune::report
