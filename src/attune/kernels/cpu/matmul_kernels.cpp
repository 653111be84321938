#include "attune/kernels/cpu/matmul_kernels.h"

#include "attune/kernels/cpu/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/matmul_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int panel_vectors = static_cast<int>(panel_width) / lanes;

#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int registers = 32;
#else
constexpr int registers = 16;
#endif
constexpr int line = 16;          // floats of a cache line
constexpr int prefetch_rows = 8;  // how far ahead of a panel that streams from memory
constexpr int tile_rows = registers == 32 ? 12 : 6, tile_vectors = 2;

// Where a tile's element of A at (row, k) is.
struct RowBlock {
  static constexpr bool streams = false;  // B comes from a cache: the driver asked for it
  static const float* at(const Tile& t, std::int64_t row, std::int64_t k) { return t.a + row * block_row_stride + k; }
};
struct ColumnBlock {
  static constexpr bool streams = false;
  static const float* at(const Tile& t, std::int64_t row, std::int64_t k) { return t.a + k * tile_rows + row; }
};
struct Strided {
  static constexpr bool streams = true;
  static const float* at(const Tile& t, std::int64_t row, std::int64_t k) { return t.a + row * t.a_row_stride + k; }
};

constexpr std::int64_t column_of(int vector) { return static_cast<std::int64_t>(vector) * lanes; }

/// Where vector `v` of a row of B lies: within its panel, and in the panels after it.
HWY_INLINE std::int64_t place_in_b(const Tile& t, int v) {
  return column_of(v) / panel_width * t.b_panel_stride + column_of(v) % panel_width;
}

/// kRows x kVectors accumulators; columns from vector `first` on.
template <class A, int kRows, int kVectors>
HWY_INLINE void multiply(const Tile& t, int first) {
  const D d;
  V sum[kRows][kVectors];
  ATTUNE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    ATTUNE_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::LoadU(d, t.start + i * t.start_stride + column_of(first + v));
  }
  const float* b[kVectors];
  ATTUNE_UNROLL
  for (int v = 0; v < kVectors; ++v) b[v] = t.b + place_in_b(t, first + v);
  for (std::int64_t k = 0; k < t.depth; ++k) {
    V row_of_b[kVectors];
    ATTUNE_UNROLL
    for (int v = 0; v < kVectors; ++v) row_of_b[v] = hn::Load(d, b[v] + k * panel_width);
    if constexpr (A::streams) {
      for (int v = 0; v < kVectors; ++v)
        if (column_of(v) % line == 0) __builtin_prefetch(b[v] + (k + prefetch_rows) * panel_width);
    } else {
      __builtin_prefetch(t.ahead + k * t.ahead_step, 0, 2);
    }
    ATTUNE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const V a = hn::Set(d, *A::at(t, i, k));
      ATTUNE_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(a, row_of_b[v], sum[i][v]);
    }
  }
  ATTUNE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    ATTUNE_UNROLL
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[i][v], d, t.c + i * t.c_stride + column_of(first + v));
  }
}

template <class A, int kRows>
void block_tile(const Tile& t) {
  multiply<A, kRows, tile_vectors>(t, 0);
}

/// Few rows: as many columns at a time as give enough independent sums to hide the latency of the multiply-add.
template <int kRows, int kPanels>
void thin_tile(const Tile& t) {
  constexpr int all = kPanels * panel_vectors;
  constexpr int at_once = kRows * all <= registers - 4 && all <= 8 ? all : kRows * 4 <= 12 && all % 4 == 0 ? 4 : 2;
  for (int first = 0; first < all; first += at_once) multiply<Strided, kRows, at_once>(t, first);
}

void transpose_panel(const float* from, std::int64_t from_stride, std::int64_t depth, float* to) {
  std::int64_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> d64;
  for (; k + 4 <= depth; k += 4) {
    for (std::int64_t j = 0; j < panel_width; j += 4) {
      const float* block = from + j * from_stride + k;
      const auto r0 = hn::LoadU(d, block), r1 = hn::LoadU(d, block + from_stride);
      const auto r2 = hn::LoadU(d, block + 2 * from_stride), r3 = hn::LoadU(d, block + 3 * from_stride);
      const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));  // r0[0] r1[0] r0[1] r1[1]
      const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
      const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));  // r0[2] r1[2] r0[3] r1[3]
      const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, to + k * panel_width + j);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, to + (k + 1) * panel_width + j);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, to + (k + 2) * panel_width + j);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, to + (k + 3) * panel_width + j);
    }
  }
#endif
  for (; k < depth; ++k)
    for (std::int64_t j = 0; j < panel_width; ++j) to[k * panel_width + j] = from[j * from_stride + k];
}

template <class A, int kRows>
constexpr MatmulKernels::Kernel tile_of() {
  if constexpr (kRows <= tile_rows)
    return &block_tile<A, kRows>;
  else
    return nullptr;
}

template <class A>
void fill_tiles(MatmulKernels::Kernel* kernels) {
  const MatmulKernels::Kernel all[] = {tile_of<A, 1>(), tile_of<A, 2>(),  tile_of<A, 3>(),  tile_of<A, 4>(),
                                       tile_of<A, 5>(), tile_of<A, 6>(),  tile_of<A, 7>(),  tile_of<A, 8>(),
                                       tile_of<A, 9>(), tile_of<A, 10>(), tile_of<A, 11>(), tile_of<A, 12>()};
  for (std::int64_t i = 0; i < most_rows; ++i) kernels[i] = all[i];
}

const MatmulKernels* kernels_of_target() {
  static const MatmulKernels kernels = [] {
    constexpr int wide = panel_vectors >= 4 ? 1 : 2;  // panels at once for one row
    MatmulKernels k{};
    k.rows = tile_rows;
    k.columns = column_of(tile_vectors);
    k.depth = registers == 32 ? block_depth : 384;  // measured
    fill_tiles<RowBlock>(k.row_tiles);
    fill_tiles<ColumnBlock>(k.column_tiles);
    const std::int64_t panels[] = {wide, wide, 1, 1};
    const MatmulKernels::Kernel thin[] = {&thin_tile<1, wide>, &thin_tile<2, wide>, &thin_tile<3, 1>, &thin_tile<4, 1>};
    const MatmulKernels::Kernel single[] = {&thin_tile<1, 1>, &thin_tile<2, 1>, &thin_tile<3, 1>, &thin_tile<4, 1>};
    for (int i = 0; i < most_thin_rows; ++i)
      k.thin_panels[i] = panels[i], k.thin[i] = thin[i], k.single_thin[i] = single[i];
    k.transpose_panel = &transpose_panel;
    return k;
  }();
  return &kernels;
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(kernels_of_target);

const MatmulKernels& matmul_kernels() { return *HWY_DYNAMIC_DISPATCH(kernels_of_target)(); }

}  // namespace attune::kernels
#endif
