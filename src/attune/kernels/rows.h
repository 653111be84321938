#pragma once

#include <cstdint>
#include <type_traits>

namespace attune::kernels {

/// A matrix of `count` rows of `width` values, a row beginning every `stride` values: what kernels see of a tensor.
/// Rows<double> selects the readable reference kernel of an operation, Rows<float> the fast CPU one: they are
/// overloads.
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t count = 0;
  std::int64_t width = 0;
  std::int64_t stride = 0;

  T* operator[](std::int64_t i) const { return data + i * stride; }
  operator Rows<const T>() const requires(!std::is_const_v<T>) { return {data, count, width, stride}; }
};

}  // namespace attune::kernels
