#include "attune/evaluate/chrf.h"

#include <cmath>

#include "attune/base/error.h"
#include "attune/evaluate/bleu.h"
#include "attune/evaluate/ngrams.h"
#include "attune/evaluate/words.h"

namespace attune::evaluate {

namespace {

/// Words, with one character of punctuation at an end, else at the beginning, apart: as chrF++.py has them.
std::vector<std::string_view> words_and_punctuation(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word : split_words(text)) {
    const auto at = [&](std::size_t i) { return is_ascii_punctuation(static_cast<unsigned char>(word[i])); };
    if (word.size() > 1 && at(word.size() - 1)) {
      words.push_back(word.substr(0, word.size() - 1));
      words.push_back(word.substr(word.size() - 1));
    } else if (word.size() > 1 && at(0)) {
      words.push_back(word.substr(0, 1));
      words.push_back(word.substr(1));
    } else {
      words.push_back(word);
    }
  }
  return words;
}

std::vector<NgramCounts> count(std::string_view text, const ChrfOptions& options, NgramNumbers& numbers) {
  const std::string lower = options.lower_case ? lower_case(text) : std::string(text);
  std::vector<std::int32_t> characters;
  for (char32_t point : code_points_of(lower))
    if (options.keep_spaces || !is_space(point)) characters.push_back(static_cast<std::int32_t>(point));
  std::vector<NgramCounts> counts = numbers.count(characters, options.character_order);
  if (options.word_order == 0) return counts;
  std::vector<std::int32_t> words;
  // A word's number is never that of a character: below 0.
  for (std::int32_t word : numbers.tokens(words_and_punctuation(lower))) words.push_back(-1 - word);
  for (NgramCounts& its : numbers.count(words, options.word_order)) counts.push_back(std::move(its));
  return counts;
}

/// Of each order: n-grams of the prediction, of the reference, and in common. Without one in the reference those of the
/// prediction do not count.
std::vector<double> matches(const std::vector<NgramCounts>& written, const std::vector<NgramCounts>& reference) {
  std::vector<double> sums;
  for (std::size_t n = 0; n < written.size(); ++n) {
    sums.push_back(reference[n].empty() ? 0 : static_cast<double>(total(written[n])));
    sums.push_back(static_cast<double>(total(reference[n])));
    sums.push_back(static_cast<double>(overlap(written[n], reference[n])));
  }
  return sums;
}

double score(std::span<const double> sums, double beta) {
  double precision = 0, recall = 0, over = 0;
  for (std::size_t n = 0; n + 2 < sums.size(); n += 3) {
    if (sums[n] == 0 || sums[n + 1] == 0) continue;
    precision += sums[n + 2] / sums[n], recall += sums[n + 2] / sums[n + 1], ++over;
  }
  if (precision + recall == 0) return 0;
  precision /= over, recall /= over;
  const double weight = beta * beta;
  return 100 * (1 + weight) * precision * recall / (weight * precision + recall);
}

}  // namespace

SummedMetric chrf(std::span<const TextAndReferences> items, const ChrfOptions& options) {
  check_references(items);
  check(options.character_order >= 1 && options.character_order <= 100, "chrF of {} characters: give 1 to 100",
        options.character_order);
  check(options.word_order >= 0 && options.word_order <= 100, "chrF of {} words: give 0 to 100", options.word_order);
  check(options.beta > 0 && std::isfinite(options.beta), "chrF's beta is {}: give more than 0", options.beta);
  SummedMetric metric{.names = {options.word_order > 0 ? "chrf++" : "chrf"},
                      .width = 3 * static_cast<std::size_t>(options.character_order + options.word_order)};
  for (const TextAndReferences& item : items) {
    NgramNumbers numbers;
    const std::vector<NgramCounts> written = count(item.prediction, options, numbers);
    std::vector<double> best;
    double highest = -1;
    for (const std::string& reference : item.references) {
      std::vector<double> sums = matches(written, count(reference, options, numbers));
      const double its = score(sums, options.beta);
      if (its > highest) highest = its, best = std::move(sums);
    }
    metric.statistics.insert(metric.statistics.end(), best.begin(), best.end());
  }
  metric.figures = [beta = options.beta](std::span<const double> sums, std::span<double> out) {
    out[0] = score(sums, beta);
  };
  return metric;
}

std::string chrf_signature(std::span<const TextAndReferences> items, const ChrfOptions& options) {
  return fmt::format("{}|case:{}|eff:yes|nc:{}|nw:{}|space:{}", references_signature(items),
                     options.lower_case ? "lc" : "mixed", options.character_order, options.word_order,
                     options.keep_spaces ? "yes" : "no");
}

}  // namespace attune::evaluate
