#include "attune/tensor/shape.h"

#include <algorithm>
#include <limits>

#include "attune/base/error.h"

namespace attune {

Shape::Shape(std::initializer_list<std::int64_t> sizes)
    : Shape(std::span<const std::int64_t>(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const std::int64_t> sizes) {
  check(sizes.size() <= static_cast<std::size_t>(max_rank), "a tensor has at most {} dimensions, not {}", max_rank,
        sizes.size());
  std::int64_t product = 1;
  for (std::int64_t size : sizes) {
    check(size >= 0, "dimension {} of a shape is {}: a size cannot be negative", rank_, size);
    check(size == 0 || product <= std::numeric_limits<std::int64_t>::max() / 16 / size,
          "a shape has more elements than memory can be addressed");
    product *= std::max<std::int64_t>(size, 1);
    sizes_[static_cast<std::size_t>(rank_++)] = size;
  }
}

std::int64_t Shape::operator[](int i) const {
  int index = i < 0 ? i + rank_ : i;
  check(index >= 0 && index < rank_, "shape {} has no dimension {}", *this, i);
  return sizes_[static_cast<std::size_t>(index)];
}

std::int64_t Shape::numel() const {
  std::int64_t product = 1;
  for (std::int64_t size : sizes()) product *= size;
  return product;
}

bool Shape::operator==(const Shape& other) const { return std::ranges::equal(sizes(), other.sizes()); }

std::string Shape::text() const {
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(sizes_[static_cast<std::size_t>(i)]);
  }
  return out + "]";
}

}  // namespace attune
