#pragma once

#include <cstdint>
#include <span>

namespace attune::kernels {

/// Which values of a matrix are dropped; see ops/dropout.h.
struct DropoutRule {
  std::uint64_t key = 0;
  double rate = 0;
  std::span<const std::int64_t> examples;   // [rows]
  std::span<const std::int32_t> positions;  // [rows]
};

}  // namespace attune::kernels
