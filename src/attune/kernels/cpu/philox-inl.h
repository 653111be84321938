// Per-target include guard, as Highway wants it: this file is compiled once for each instruction set.
#if defined(ATTUNE_KERNELS_CPU_PHILOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_PHILOX_INL_H
#undef ATTUNE_KERNELS_CPU_PHILOX_INL_H
#else
#define ATTUNE_KERNELS_CPU_PHILOX_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "attune/base/random.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

/// Random numbers that philox_blocks() makes at a time: four for each 64-bit lane.
constexpr std::int64_t philox_batch =
    4 * static_cast<std::int64_t>(hwy::HWY_NAMESPACE::MaxLanes(hwy::HWY_NAMESPACE::ScalableTag<std::uint64_t>()));

/// philox(key, example, position, block) of base/random.h for blocks first_block, first_block + 1, ...: fills out
/// [philox_batch], four numbers a block in its order. out: 64-byte aligned.
HWY_INLINE void philox_blocks(std::uint64_t key, std::uint64_t example, std::uint32_t position,
                              std::uint32_t first_block, std::uint32_t* HWY_RESTRICT out) {
#if HWY_TARGET == HWY_SCALAR
  const auto numbers = philox(key, example, position, first_block);
  for (std::size_t i = 0; i < 4; ++i) out[i] = numbers[i];
#else
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Repartition<std::uint32_t, decltype(d)> d32;
  using V = hn::Vec<decltype(d)>;
  // Each 32-bit word lies in the lower half of a 64-bit lane, so that a product needs no shuffle; what is in the upper
  // half is ignored by the multiplication and cut off at the end.
  const V low = hn::Set(d, 0xffffffffu);
  const auto m0 = hn::BitCast(d32, hn::Set(d, 0xD2511F53u)), m1 = hn::BitCast(d32, hn::Set(d, 0xCD9E8D57u));
  V x0 = hn::Set(d, example & 0xffffffffu), x1 = hn::Set(d, example >> 32), x2 = hn::Set(d, position);
  V x3 = hn::Iota(d, static_cast<std::uint64_t>(first_block));
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const V p0 = hn::MulEven(hn::BitCast(d32, x0), m0), p1 = hn::MulEven(hn::BitCast(d32, x2), m1);
    x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), x1), hn::Set(d, k0));
    x1 = p1;
    x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), x3), hn::Set(d, k1));
    x3 = p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const V first = hn::Or(hn::And(x0, low), hn::ShiftLeft<32>(x1)),
          second = hn::Or(hn::And(x2, low), hn::ShiftLeft<32>(x3));
  hn::StoreInterleaved2(first, second, d, reinterpret_cast<std::uint64_t*>(out));
#endif
}

/// The 32-bit number below which a value is dropped.
inline std::uint32_t drop_threshold(double rate) { return static_cast<std::uint32_t>(rate * 0x1p32); }

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
