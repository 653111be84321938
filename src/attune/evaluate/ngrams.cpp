#include "attune/evaluate/ngrams.h"

#include <algorithm>

namespace attune::evaluate {

std::int64_t total(const NgramCounts& counts) {
  std::int64_t sum = 0;
  for (const auto& [number, count] : counts) sum += count;
  return sum;
}

std::int64_t overlap(const NgramCounts& a, const NgramCounts& b) {
  if (a.size() > b.size()) return overlap(b, a);
  std::int64_t sum = 0;
  for (const auto& [number, count] : a)
    if (auto found = b.find(number); found != b.end()) sum += std::min(count, found->second);
  return sum;
}

std::int32_t NgramNumbers::token(std::string_view word) {
  return words_.try_emplace(std::string(word), static_cast<std::int32_t>(words_.size())).first->second;
}

std::vector<std::int32_t> NgramNumbers::tokens(std::span<const std::string_view> words) {
  std::vector<std::int32_t> all;
  for (std::string_view word : words) all.push_back(token(word));
  return all;
}

std::vector<NgramCounts> NgramNumbers::count(std::span<const std::int32_t> tokens, int orders) {
  std::vector<NgramCounts> counts(static_cast<std::size_t>(orders));
  std::vector<std::int32_t> numbers(tokens.size(), 0);  // of the n-gram that begins at each place; 0: the empty one
  for (std::size_t n = 1; n <= counts.size(); ++n)
    for (std::size_t i = 0; i + n <= tokens.size(); ++i) {
      const std::uint64_t key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(numbers[i])) << 32 |
                                static_cast<std::uint32_t>(tokens[i + n - 1]);
      numbers[i] = longer_.try_emplace(key, static_cast<std::int32_t>(longer_.size()) + 1).first->second;
      ++counts[n - 1][numbers[i]];
    }
  return counts;
}

}  // namespace attune::evaluate
