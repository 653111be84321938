#include "attune/text/byte_trie.h"

#include <algorithm>

namespace attune {

/// A base at which all labels fall on free places. Where the places looked at were nearly all taken, the next search
/// begins behind them, which keeps the whole construction linear in practice.
std::size_t ByteTrie::place(const std::vector<std::uint32_t>& labels) {
  const auto taken = [&](std::size_t at) { return at < nodes_.size() && (at == 0 || nodes_[at].parent != none); };
  std::size_t at = std::max<std::size_t>(search_from_, labels.front() + 1), full = 0;
  const std::size_t first = at;
  for (;; ++at) {
    if (taken(at)) {
      ++full;
      continue;
    }
    const std::size_t base = at - labels.front();
    if (std::none_of(labels.begin(), labels.end(), [&](std::uint32_t label) { return taken(base + label); })) break;
  }
  if (full * 20 >= (at - first + 1) * 19) search_from_ = at;
  return at - labels.front();
}

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> entries) : ByteTrie() {
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  struct Range {
    std::size_t begin, end, depth;
    std::int32_t node;
  };
  std::vector<Range> open{{0, entries.size(), 0, root}};
  std::vector<std::uint32_t> labels;
  std::vector<std::size_t> begins;
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    std::size_t i = range.begin;
    for (; i < range.end && entries[i].first.size() == range.depth; ++i)
      if (range.depth > 0) nodes_[static_cast<std::size_t>(range.node)].value = entries[i].second;
    labels.clear();
    begins.clear();
    for (; i < range.end; ++i) {
      const std::uint32_t next = label(entries[i].first[range.depth]);
      if (!labels.empty() && labels.back() == next) continue;
      labels.push_back(next);
      begins.push_back(i);
    }
    if (labels.empty()) continue;
    begins.push_back(range.end);
    const std::size_t base = place(labels);
    if (base + labels.back() >= nodes_.size()) nodes_.resize(base + labels.back() + 1);
    nodes_[static_cast<std::size_t>(range.node)].base = static_cast<std::int32_t>(base);
    for (std::size_t k = labels.size(); k-- > 0;) {
      nodes_[base + labels[k]].parent = range.node;
      open.push_back({begins[k], begins[k + 1], range.depth + 1, static_cast<std::int32_t>(base + labels[k])});
    }
  }
}

}  // namespace attune
