#pragma once

#include <cstdint>

#include "attune/kernels/attention.h"

namespace attune {

/// Which two values of a head turn together: i and i + half (Llama), or 2i and 2i + 1 (the paper, GPT-J).
enum class RotaryPairing { half_split, interleaved };

namespace kernels {

/// Each token's angles: cosines and sines, [tokens, half]. The first 2 half values of a head turn, the rest are copied.
template <class T>
struct Rotation {
  const T* cos;
  const T* sin;
  std::int64_t tokens, half;
  RotaryPairing pairing;
  bool inverse = false;  // turn back: the gradient
};

}  // namespace kernels
}  // namespace attune
