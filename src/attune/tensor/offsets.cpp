#include "attune/tensor/offsets.h"

#include <algorithm>

#include "attune/base/error.h"

namespace attune {

Offsets::Offsets() {
  static const auto none = std::make_shared<const std::vector<std::int64_t>>(1, 0);
  starts_ = none;
}

Offsets Offsets::from_lengths(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> starts{0};
  starts.reserve(lengths.size() + 1);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    check(lengths[i] >= 0, "sequence {} of a batch has length {}", i, lengths[i]);
    starts.push_back(starts.back() + lengths[i]);
  }
  Offsets made;
  made.starts_ = std::make_shared<const std::vector<std::int64_t>>(std::move(starts));
  return made;
}

Offsets Offsets::single(std::int64_t length) { return from_lengths(std::span<const std::int64_t>(&length, 1)); }

std::int64_t Offsets::longest() const {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < count(); ++i) most = std::max(most, length(i));
  return most;
}

}  // namespace attune
