#include "attune/text/pair_merger.h"

#include <algorithm>

#include "attune/base/error.h"

namespace attune {

namespace {

std::int32_t first_of(std::uint64_t pair) { return static_cast<std::int32_t>(pair >> 32); }
std::int32_t second_of(std::uint64_t pair) { return static_cast<std::int32_t>(pair & 0xFFFFFFFFu); }

}  // namespace

void PairMerger::count_pair(std::int32_t first, std::int32_t second, std::int64_t change, std::uint32_t word) {
  const std::uint64_t pair = pair_key(first, second);
  counts_[pair] += change;
  if (change < 0) return;
  std::uint32_t& number = fresh_[pair];  // from 1, because a new entry is 0
  if (number == 0) {
    new_pairs_.push_back({pair, {}});
    number = static_cast<std::uint32_t>(new_pairs_.size());
  }
  std::vector<std::uint32_t>& words = new_pairs_[number - 1].second;
  if (words.empty() || words.back() != word) words.push_back(word);
}

void PairMerger::offer_new_pairs() {
  for (auto& [pair, words] : new_pairs_) {
    const std::int64_t count = *counts_.find(pair);
    if (count <= 0) continue;
    queue_.push_back({count, pair, std::move(words)});
    std::push_heap(queue_.begin(), queue_.end());
  }
  new_pairs_.clear();
  fresh_ = FlatMap<std::uint32_t>();
}

void PairMerger::join(std::uint32_t index, std::uint64_t pair, std::int32_t joined) {
  Word& word = words_[index];
  std::vector<std::int32_t>& symbols = word.symbols;
  const std::int32_t first = first_of(pair), second = second_of(pair);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < symbols.size(); ++kept) {
    if (symbols[i] != first || i + 1 >= symbols.size() || symbols[i + 1] != second) {
      symbols[kept] = symbols[i++];
      continue;
    }
    if (kept > 0) {
      count_pair(symbols[kept - 1], first, -word.count, index);
      count_pair(symbols[kept - 1], joined, word.count, index);
    }
    symbols[kept] = joined;
    i += 2;
    if (i < symbols.size()) {
      count_pair(second, symbols[i], -word.count, index);
      count_pair(joined, symbols[i], word.count, index);
    }
  }
  symbols.resize(kept);
}

std::vector<std::pair<std::int32_t, std::int32_t>> PairMerger::merge(std::int64_t size, std::int64_t min_frequency,
                                                                     const Run& run) {
  for (std::uint32_t i = 0; i < words_.size(); ++i) {
    const std::vector<std::int32_t>& symbols = words_[i].symbols;
    for (std::size_t k = 0; k + 1 < symbols.size(); ++k) count_pair(symbols[k], symbols[k + 1], words_[i].count, i);
  }
  offer_new_pairs();
  std::vector<std::pair<std::int32_t, std::int32_t>> merges;
  while (tokens_.size() < size && !queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end());
    Candidate top = std::move(queue_.back());
    queue_.pop_back();
    const std::int64_t now = *counts_.find(top.pair);
    if (top.count != now) {  // joins since have taken some of them
      top.count = now;
      queue_.push_back(std::move(top));
      std::push_heap(queue_.begin(), queue_.end());
      continue;
    }
    if (top.count < 1 || top.count < min_frequency) break;
    const std::string_view tail = tokens_[second_of(top.pair)];
    std::string text(tokens_[first_of(top.pair)]);
    text += !prefix_.empty() && tail.starts_with(prefix_) ? tail.substr(prefix_.size()) : tail;
    const std::int32_t joined = tokens_.add(text);
    merges.push_back({first_of(top.pair), second_of(top.pair)});
    for (std::uint32_t word : top.words) join(word, top.pair, joined);
    offer_new_pairs();
    if (merges.size() % 256 == 0) {
      run.report({"training the tokenizer", tokens_.size(), size, "tokens", ""});
      if (run.cancelled()) throw Cancelled("training the tokenizer was stopped");
    }
  }
  return merges;
}

}  // namespace attune
