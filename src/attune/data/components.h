#pragma once

#include <cstdint>
#include <vector>

namespace attune {

/// Connected components of items 0 .. count - 1: union-find with path halving, the smaller joined to the larger.
class Components {
 public:
  explicit Components(std::int64_t count);

  void join(std::int64_t a, std::int64_t b);
  bool joined(std::int64_t a, std::int64_t b) { return root(a) == root(b); }
  std::int64_t root(std::int64_t item);
  std::int64_t size_of(std::int64_t item) { return sizes_[static_cast<std::size_t>(root(item))]; }

  /// For each item the number of its component: components are numbered in the order of their first items.
  std::vector<std::int64_t> numbers();

 private:
  std::vector<std::int64_t> parents_, sizes_;
};

}  // namespace attune
