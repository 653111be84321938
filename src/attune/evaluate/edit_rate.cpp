#include "attune/evaluate/edit_rate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "attune/base/error.h"
#include "attune/evaluate/ngrams.h"
#include "attune/evaluate/words.h"
#include "attune/text/utf8.h"

namespace attune::evaluate {

namespace {

/// Each run of two or more spaces becomes one U+0020; one alone stays what it is.
std::string one_space_a_run(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    int run = 0;
    std::size_t end = at;
    while (at < text.size() && is_space(next_code_point(text, at))) ++run, end = at;
    if (run == 0)
      out += text.substr(begin, at - begin);
    else
      out += run == 1 ? text.substr(begin, end - begin) : " ", at = end;
  }
  return out;
}

std::vector<std::int32_t> words_of(std::string_view text, NgramNumbers& numbers) {
  const std::string spaced = one_space_a_run(text);
  std::vector<std::int32_t> tokens;
  for (std::string_view word : split_at(strip_ends(spaced), ' '))
    if (!word.empty()) tokens.push_back(numbers.token(word));
  return tokens;
}

std::vector<std::int32_t> characters_of(std::string_view text) {
  const std::u32string points = code_points_of(strip_ends(text));
  return {points.begin(), points.end()};
}

template <class Read>
SummedMetric error_rate(std::span<const TextAndReferences> items, std::vector<std::string> names, Read&& read) {
  check_references(items);
  SummedMetric metric{.names = std::move(names), .width = 2};
  for (std::size_t i = 0; i < items.size(); ++i) {
    check(items[i].references.size() == 1, "text {} has {} references: {} has one alone", i + 1,
          items[i].references.size(), metric.names[0]);
    NgramNumbers numbers;
    const auto wanted = read(items[i].references[0], numbers), written = read(items[i].prediction, numbers);
    metric.statistics.push_back(static_cast<double>(edit_distance(wanted, written)));
    metric.statistics.push_back(static_cast<double>(wanted.size()));
  }
  metric.figures = [](std::span<const double> sums, std::span<double> out) {
    // With nothing to compare with, each insertion counts whole.
    out[0] = sums[1] > 0 ? sums[0] / sums[1] : sums[0];
    out[1] = sums[0], out[2] = sums[1];
  };
  return metric;
}

}  // namespace

std::int64_t edit_distance(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t before = std::exchange(row[0], static_cast<std::int64_t>(i) + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int64_t above = row[j + 1];
      row[j + 1] = std::min({before + (a[i] != b[j]), above + 1, row[j] + 1});
      before = above;
    }
  }
  return row.back();
}

SummedMetric word_error_rate(std::span<const TextAndReferences> items) {
  return error_rate(items, {"wer", "edits", "reference words"}, words_of);
}

SummedMetric character_error_rate(std::span<const TextAndReferences> items) {
  return error_rate(items, {"cer", "edits", "reference characters"},
                    [](std::string_view text, NgramNumbers&) { return characters_of(text); });
}

}  // namespace attune::evaluate
