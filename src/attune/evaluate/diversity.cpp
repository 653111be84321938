#include "attune/evaluate/diversity.h"

#include <unordered_set>

#include "attune/base/error.h"
#include "attune/evaluate/ngrams.h"
#include "attune/evaluate/summed_metric.h"
#include "attune/evaluate/words.h"

namespace attune::evaluate {

std::vector<DiversityOfOrder> diversity(std::span<const std::string> texts, const BootstrapOptions& options) {
  constexpr int orders = 4;
  check(!texts.empty(), "there is no text to measure");
  NgramNumbers numbers;
  std::vector<std::unordered_set<std::int32_t>> seen(orders);
  std::vector<std::int64_t> all(orders);
  std::vector<SummedMetric> repeated(orders);
  for (const std::string& text : texts) {
    const auto counts = numbers.count(numbers.tokens(split_words(text)), orders);
    for (std::size_t n = 0; n < orders; ++n) {
      const std::int64_t its = total(counts[n]);
      if (its == 0) continue;
      all[n] += its;
      for (const auto& [number, count] : counts[n]) seen[n].insert(number);
      repeated[n].statistics.push_back(1 - static_cast<double>(counts[n].size()) / static_cast<double>(its));
      repeated[n].statistics.push_back(1);
    }
  }
  std::vector<DiversityOfOrder> out;
  for (std::size_t n = 0; n < orders; ++n) {
    DiversityOfOrder one{.order = static_cast<int>(n) + 1,
                         .texts = static_cast<std::int64_t>(repeated[n].statistics.size() / 2)};
    if (one.texts > 0) {
      repeated[n].names = {"repetition"}, repeated[n].width = 2;
      repeated[n].figures = [](std::span<const double> sums, std::span<double> figures) {
        figures[0] = sums[0] / sums[1];
      };
      one.distinct = static_cast<double>(seen[n].size()) / static_cast<double>(all[n]);
      one.repetition = summed_intervals(repeated[n], options)[0];
    }
    out.push_back(one);
  }
  return out;
}

}  // namespace attune::evaluate
