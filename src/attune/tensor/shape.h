#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace attune {

/// Up to six sizes, outermost first. A Shape of rank 0 is a scalar's and has one element. Printed as [2, 3].
class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes);
  explicit Shape(std::span<const std::int64_t> sizes);  // throws Error above max_rank or on a negative size

  int rank() const { return rank_; }
  /// Size of dimension i; negative i counts from the end. Throws Error beyond the rank.
  std::int64_t operator[](int i) const;
  std::int64_t numel() const;
  std::span<const std::int64_t> sizes() const { return {sizes_.data(), static_cast<std::size_t>(rank_)}; }
  bool operator==(const Shape& other) const;
  std::string text() const;

 private:
  std::array<std::int64_t, max_rank> sizes_{};
  int rank_ = 0;
};

}  // namespace attune

template <>
struct fmt::formatter<attune::Shape> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(const attune::Shape& shape, Context& context) const {
    // Not the base's format() nor fmt::format_to: clang finds them only where fmt/format.h is included.
    const std::string text = shape.text();
    return std::copy(text.begin(), text.end(), context.out());
  }
};
