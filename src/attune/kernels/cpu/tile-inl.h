// A multiply-add tile on packed panels that stay in the first caches, and their packing: what attention and the linear
// recurrences are made of. Compiled once for each instruction set.
#if defined(ATTUNE_KERNELS_CPU_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_TILE_INL_H_
#undef ATTUNE_KERNELS_CPU_TILE_INL_H_
#else
#define ATTUNE_KERNELS_CPU_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Integers = hn::RebindToSigned<Floats>;
using Vector = hn::Vec<Floats>;
constexpr Floats floats;
constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));

// Keys in a block. A multiple of every vector width; scores of one block stand in rows of this length.
constexpr std::int64_t key_block = 64;
static_assert(key_block % lanes == 0);

constexpr std::int64_t padded(std::int64_t n) { return (n + lanes - 1) / lanes * lanes; }

// Products: every value of c is one chain of multiply-adds over k in order, however rows and columns are cut.

struct Product {
  const float* a;  // row r, step k at a[r * a_row + k * a_step]
  std::int64_t a_row, a_step;
  const float* b;  // [k, b_row], padded columns
  std::int64_t b_row;
  float* c;  // [rows, c_row], padded columns
  std::int64_t c_row;
  std::int64_t steps;  // k runs over [0, steps)
  bool fresh;          // start from 0, not from c
};

template <int rows, int vectors>
HWY_INLINE void multiply_tile(const Product& p, const float* HWY_RESTRICT b, float* HWY_RESTRICT c,
                              const float* HWY_RESTRICT a) {
  Vector sum[rows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int n = 0; n < vectors; ++n)
      sum[r][n] = p.fresh ? hn::Zero(floats) : hn::Load(floats, c + r * p.c_row + n * lanes);
  }
  for (std::int64_t k = 0; k < p.steps; ++k, a += p.a_step, b += p.b_row) {
    Vector right[vectors];
#pragma GCC unroll 8
    for (int n = 0; n < vectors; ++n) right[n] = hn::Load(floats, b + n * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Vector left = hn::Set(floats, a[r * p.a_row]);
#pragma GCC unroll 8
      for (int n = 0; n < vectors; ++n) sum[r][n] = hn::MulAdd(left, right[n], sum[r][n]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int n = 0; n < vectors; ++n) hn::Store(sum[r][n], floats, c + r * p.c_row + n * lanes);
  }
}

// 6 rows fill the register file: of 32 vectors with 4 columns, of 16 with 2.
constexpr int tile_rows = 6;
constexpr int tile_vectors = lanes >= 16 ? 4 : 2;

template <int vectors>
HWY_INLINE void multiply_columns(const Product& p, std::int64_t rows, std::int64_t column) {
  const float* a = p.a;
  const float* b = p.b + column;
  float* c = p.c + column;
  for (; rows >= tile_rows; rows -= tile_rows, a += tile_rows * p.a_row, c += tile_rows * p.c_row)
    multiply_tile<tile_rows, vectors>(p, b, c, a);
  switch (rows) {
    case 1:
      return multiply_tile<1, vectors>(p, b, c, a);
    case 2:
      return multiply_tile<2, vectors>(p, b, c, a);
    case 3:
      return multiply_tile<3, vectors>(p, b, c, a);
    case 4:
      return multiply_tile<4, vectors>(p, b, c, a);
    case 5:
      return multiply_tile<5, vectors>(p, b, c, a);
    default:
      return;
  }
}

/// `width` columns, a multiple of the vector width.
static HWY_NOINLINE void multiply(const Product& p, std::int64_t rows, std::int64_t width) {
  for (std::int64_t column = 0; column < width;) {
    const std::int64_t left = (width - column) / lanes;
    if (left >= tile_vectors) {
      multiply_columns<tile_vectors>(p, rows, column);
      column += tile_vectors * lanes;
    } else if (tile_vectors > 2 && left == 3) {
      multiply_columns<tile_vectors - 1>(p, rows, column);
      column += 3 * lanes;
    } else if (tile_vectors > 2 && left == 2) {
      multiply_columns<2>(p, rows, column);
      column += 2 * lanes;
    } else {
      multiply_columns<1>(p, rows, column);
      column += lanes;
    }
  }
}

/// Largest and sum over the lanes.
HWY_INLINE float largest_lane(Vector x) { return hn::GetLane(hn::MaxOfLanes(floats, x)); }
HWY_INLINE float sum_of_lanes(Vector x) { return hn::GetLane(hn::SumOfLanes(floats, x)); }

/// A row of `width` values times `factor`, filled up with zeros to `to` values; `out` may be `row`.
HWY_INLINE void pack_row(const float* row, std::int64_t width, std::int64_t to, float factor, float* out) {
  const Vector f = hn::Set(floats, factor);
  std::int64_t c = 0;
  for (; c + lanes <= width; c += lanes) hn::StoreU(hn::Mul(hn::LoadU(floats, row + c), f), floats, out + c);
  for (; c < width; ++c) out[c] = row[c] * factor;
  for (; c < to; ++c) out[c] = 0;
}

#if HWY_TARGET != HWY_SCALAR
/// Four neighbouring values from each of `lanes` / 4 rows, four rows apart: one row to a 128-bit block.
HWY_INLINE Vector load_blocks(const float* const* rows, std::int64_t c) {
  Vector v = hn::LoadDup128(floats, rows[0] + c);
#pragma GCC unroll 4
  for (std::int64_t block = 1; block < lanes / 4; ++block) {
    const auto below = hn::FirstN(floats, static_cast<std::size_t>(4 * block));
    v = hn::IfThenElse(below, v, hn::LoadDup128(floats, rows[4 * block] + c));
  }
  return v;
}
#endif

/// `columns` rows (a multiple of the vector width) of `width` values, transposed: out[c * key_block + j] = rows[j][c].
static HWY_NOINLINE void pack_transposed(const float* const* rows, std::int64_t columns, std::int64_t width,
                                         float* HWY_RESTRICT out) {
  std::int64_t whole = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::uint64_t, Floats> pairs;
  whole = width / 4 * 4;
  for (std::int64_t j = 0; j < columns; j += lanes) {
    for (std::int64_t c = 0; c < whole; c += 4) {
      const Vector v0 = load_blocks(rows + j, c), v1 = load_blocks(rows + j + 1, c);
      const Vector v2 = load_blocks(rows + j + 2, c), v3 = load_blocks(rows + j + 3, c);
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(floats, v0, v1));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(floats, v2, v3));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(floats, v0, v1));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(floats, v2, v3));
      float* to = out + c * key_block + j;
      hn::Store(hn::BitCast(floats, hn::InterleaveLower(pairs, low01, low23)), floats, to);
      hn::Store(hn::BitCast(floats, hn::InterleaveUpper(pairs, low01, low23)), floats, to + key_block);
      hn::Store(hn::BitCast(floats, hn::InterleaveLower(pairs, high01, high23)), floats, to + 2 * key_block);
      hn::Store(hn::BitCast(floats, hn::InterleaveUpper(pairs, high01, high23)), floats, to + 3 * key_block);
    }
  }
#endif
  for (std::int64_t c = whole; c < width; ++c)
    for (std::int64_t j = 0; j < columns; ++j) out[c * key_block + j] = rows[j][c];
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
