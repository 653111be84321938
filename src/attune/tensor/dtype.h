#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attune {

/// Element types. F64 is the reference's; F32 is what a CPU computes in; the 16-bit types and the integers are for
/// storage.
enum class DType : std::uint8_t { F64, F32, F16, BF16, I64, I32, I8, U8 };

/// Storage of 16-bit floats: bits only; convert with to_float (tensor/convert.h).
struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

std::size_t size_of(DType type);
std::string_view name_of(DType type);  // "f32"
bool is_float(DType type);

template <class T>
inline constexpr DType dtype_of = [] {
  static_assert(sizeof(T) == 0, "not an element type");
  return DType::F32;
}();
template <>
inline constexpr DType dtype_of<double> = DType::F64;
template <>
inline constexpr DType dtype_of<float> = DType::F32;
template <>
inline constexpr DType dtype_of<Half> = DType::F16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::BF16;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::I64;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::I32;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::I8;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::U8;

}  // namespace attune
