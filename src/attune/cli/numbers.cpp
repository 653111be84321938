#include "attune/cli/numbers.h"

#include <charconv>
#include <set>

#include "attune/cli/arguments.h"

namespace attune {

namespace {

template <class T>
T read(const std::string& option, const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, fault] = std::from_chars(text.data(), end, value);
  check_usage(fault == std::errc() && stopped == end && !text.empty(), "{}: \"{}\" is not a number", option, text);
  return value;
}

}  // namespace

std::vector<std::int64_t> read_lengths(const std::string& option, const std::vector<std::string>& values) {
  std::set<std::int64_t> lengths;
  for (const std::string& value : values) {
    const std::size_t dots = value.find("..");
    const auto first = read<std::int64_t>(option, value.substr(0, dots));
    const auto last = dots == std::string::npos ? first : read<std::int64_t>(option, value.substr(dots + 2));
    check_usage(first >= 1 && last >= first && last <= (std::int64_t{1} << 40),
                "{}: \"{}\": expected a length of 1 or more, or FIRST..LAST with the smaller first", option, value);
    for (std::int64_t length = first; length <= last; length *= 2) lengths.insert(length);
  }
  return {lengths.begin(), lengths.end()};
}

std::vector<double> read_numbers(const std::string& option, const std::vector<std::string>& values, ConfigRange range) {
  std::vector<double> numbers;
  for (const std::string& value : values) {
    numbers.push_back(read<double>(option, value));
    check_usage(range.holds(numbers.back()), "{}: {} is not {}", option, value, range.text());
  }
  return numbers;
}

}  // namespace attune
