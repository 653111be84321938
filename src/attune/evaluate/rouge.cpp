#include "attune/evaluate/rouge.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "attune/base/error.h"
#include "attune/evaluate/ngrams.h"
#include "attune/evaluate/porter_stemmer.h"
#include "attune/evaluate/words.h"

namespace attune::evaluate {

namespace {

using Tokens = std::vector<std::int32_t>;

struct Score {
  double precision = 0, recall = 0;
  double f() const { return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0; }
};

Score score(std::int64_t common, std::int64_t written, std::int64_t wanted) {
  const auto ratio = [&](std::int64_t of) {
    return static_cast<double>(common) / static_cast<double>(std::max<std::int64_t>(1, of));
  };
  return {ratio(written), ratio(wanted)};
}

std::int64_t size_of(const Tokens& tokens) { return static_cast<std::int64_t>(tokens.size()); }

std::int64_t longest_common(const Tokens& a, const Tokens& b) {
  std::vector<std::int64_t> row(b.size() + 1);
  for (std::int32_t token : a) {
    std::int64_t before = 0;  // of the row above, one to the left
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::int64_t above = row[j];
      row[j] = token == b[j - 1] ? before + 1 : std::max(above, row[j - 1]);
      before = above;
    }
  }
  return row.back();
}

constexpr std::size_t most_cells = std::size_t{1} << 30;

/// Which of `wanted` are in its longest common subsequence with `written`: of several the one that rouge-score finds.
void mark_common(const Tokens& wanted, const Tokens& written, std::vector<bool>& marked) {
  const std::size_t rows = wanted.size() + 1, columns = written.size() + 1;
  check(rows <= most_cells / columns, "rougeLsum: lines of {} and {} words are too long to be compared: divide them",
        wanted.size(), written.size());
  std::vector<std::uint32_t> table(rows * columns);  // [rows, columns]
  for (std::size_t i = 1; i < rows; ++i)
    for (std::size_t j = 1; j < columns; ++j)
      table[i * columns + j] = wanted[i - 1] == written[j - 1]
                                   ? table[(i - 1) * columns + j - 1] + 1
                                   : std::max(table[(i - 1) * columns + j], table[i * columns + j - 1]);
  for (std::size_t i = wanted.size(), j = written.size(); i > 0 && j > 0;) {
    if (wanted[i - 1] == written[j - 1])
      marked[i - 1] = true, --i, --j;
    else if (table[i * columns + j - 1] > table[(i - 1) * columns + j])
      --j;
    else
      --i;
  }
}

std::map<std::int32_t, std::int64_t> counts_of(const std::vector<Tokens>& lines) {
  std::map<std::int32_t, std::int64_t> counts;
  for (const Tokens& line : lines)
    for (std::int32_t token : line) ++counts[token];
  return counts;
}

/// Union of the longest common subsequences (Lin 2004, section 3.2); no word counts more often than both sides have it.
Score of_lines(const std::vector<Tokens>& written, const std::vector<Tokens>& wanted) {
  auto written_left = counts_of(written), wanted_left = counts_of(wanted);
  std::int64_t hits = 0, written_words = 0, wanted_words = 0;
  for (const Tokens& line : written) written_words += size_of(line);
  for (const Tokens& line : wanted) {
    wanted_words += size_of(line);
    std::vector<bool> marked(line.size());
    for (const Tokens& other : written) mark_common(line, other, marked);
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!marked[i] || written_left[line[i]] == 0 || wanted_left[line[i]] == 0) continue;
      --written_left[line[i]], --wanted_left[line[i]], ++hits;
    }
  }
  return score(hits, written_words, wanted_words);
}

/// A text's words, as a whole and in lines.
struct RougeText {
  Tokens words;
  std::vector<Tokens> lines;

  RougeText(std::string_view text, const RougeOptions& options, NgramNumbers& numbers) {
    const auto read = [&](std::string_view part) {
      Tokens tokens;
      for (const std::string& word : rouge_words(part, options)) tokens.push_back(numbers.token(word));
      return tokens;
    };
    words = read(text);
    for (std::string_view line : split_at(text, '\n'))
      if (!line.empty()) lines.push_back(read(line));
  }
};

constexpr std::size_t kinds = 4;

std::array<Score, kinds> scores(const RougeText& written, const RougeText& wanted, NgramNumbers& numbers) {
  std::array<Score, kinds> all;
  const auto a = numbers.count(written.words, 2), b = numbers.count(wanted.words, 2);
  for (std::size_t n = 0; n < 2; ++n) all[n] = score(overlap(a[n], b[n]), total(a[n]), total(b[n]));
  all[2] = score(longest_common(written.words, wanted.words), size_of(written.words), size_of(wanted.words));
  all[3] = of_lines(written.lines, wanted.lines);
  return all;
}

bool letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::vector<std::string> rouge_words(std::string_view text, const RougeOptions& options) {
  std::vector<std::string> words;
  bool inside = false;
  for (char c : lower_case(text)) {
    if (letter_or_digit(c) && !inside) words.emplace_back();
    inside = letter_or_digit(c);
    if (inside) words.back() += c;
  }
  if (options.stem)
    for (std::string& word : words)
      if (word.size() > 3) word = porter_stem(word);
  return words;
}

SummedMetric rouge(std::span<const TextAndReferences> items, const RougeOptions& options) {
  check_references(items);
  SummedMetric metric{.width = 1 + 3 * kinds};
  const std::array<const char*, kinds> names = {"rouge1", "rouge2", "rougeL", "rougeLsum"};
  for (const char* part : {"", ".precision", ".recall"})
    for (const char* name : names) metric.names.push_back(std::string(name) + part);
  for (const TextAndReferences& item : items) {
    NgramNumbers numbers;
    const RougeText written(item.prediction, options, numbers);
    std::array<Score, kinds> best;
    for (std::size_t r = 0; r < item.references.size(); ++r) {
      const auto its = scores(written, RougeText(item.references[r], options, numbers), numbers);
      for (std::size_t k = 0; k < kinds; ++k)
        if (r == 0 || its[k].f() > best[k].f()) best[k] = its[k];
    }
    metric.statistics.push_back(1);
    for (const Score& one : best) metric.statistics.push_back(one.f());
    for (const Score& one : best) metric.statistics.push_back(one.precision);
    for (const Score& one : best) metric.statistics.push_back(one.recall);
  }
  metric.figures = [](std::span<const double> sums, std::span<double> out) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = sums[1 + k] / sums[0];
  };
  return metric;
}

}  // namespace attune::evaluate
