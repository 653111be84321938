#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attune::evaluate {

/// How often each n-gram of a sequence occurs, by its number.
using NgramCounts = std::unordered_map<std::int32_t, std::int64_t>;

std::int64_t total(const NgramCounts& counts);
/// Occurrences in common: the sum of the smaller of both counts.
std::int64_t overlap(const NgramCounts& a, const NgramCounts& b);

/// Numbers n-grams of tokens: equal n-grams of all sequences that were counted with one object have one number.
class NgramNumbers {
 public:
  /// A word as a token.
  std::int32_t token(std::string_view word);
  std::vector<std::int32_t> tokens(std::span<const std::string_view> words);
  /// [orders]: of n-grams of 1 to `orders` tokens, which are words by token() or anything else by its own number.
  std::vector<NgramCounts> count(std::span<const std::int32_t> tokens, int orders);

 private:
  std::unordered_map<std::string, std::int32_t> words_;
  std::unordered_map<std::uint64_t, std::int32_t> longer_;  // by the number of an n-gram's beginning and its last token
};

}  // namespace attune::evaluate
