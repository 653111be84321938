#include "attune/data/components.h"

#include <numeric>
#include <utility>

namespace attune {

Components::Components(std::int64_t count)
    : parents_(static_cast<std::size_t>(count)), sizes_(static_cast<std::size_t>(count), 1) {
  std::iota(parents_.begin(), parents_.end(), 0);
}

std::int64_t Components::root(std::int64_t item) {
  auto at = static_cast<std::size_t>(item);
  while (parents_[at] != static_cast<std::int64_t>(at)) {
    parents_[at] = parents_[static_cast<std::size_t>(parents_[at])];
    at = static_cast<std::size_t>(parents_[at]);
  }
  return static_cast<std::int64_t>(at);
}

void Components::join(std::int64_t a, std::int64_t b) {
  auto x = static_cast<std::size_t>(root(a)), y = static_cast<std::size_t>(root(b));
  if (x == y) return;
  if (sizes_[x] < sizes_[y]) std::swap(x, y);
  parents_[y] = static_cast<std::int64_t>(x);
  sizes_[x] += sizes_[y];
}

std::vector<std::int64_t> Components::numbers() {
  std::vector<std::int64_t> number_of_root(parents_.size(), -1), numbers(parents_.size());
  std::int64_t next = 0;
  for (std::size_t i = 0; i < parents_.size(); ++i) {
    std::int64_t& number = number_of_root[static_cast<std::size_t>(root(static_cast<std::int64_t>(i)))];
    if (number < 0) number = next++;
    numbers[i] = number;
  }
  return numbers;
}

}  // namespace attune
