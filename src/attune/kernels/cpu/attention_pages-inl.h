// Blocks of keys and values out of a cache's pages, and products with them as they lie there, which read memory once
// and in order. Compiled once for each instruction set.
#if defined(ATTUNE_KERNELS_CPU_ATTENTION_PAGES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_ATTENTION_PAGES_INL_H_
#undef ATTUNE_KERNELS_CPU_ATTENTION_PAGES_INL_H_
#else
#define ATTUNE_KERNELS_CPU_ATTENTION_PAGES_INL_H_
#endif

#include <hwy/cache_control.h>

#include "attune/kernels/cpu/attention-inl.h"
#include "attune/tensor/convert.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

static_assert(lanes <= 16, "a page's rows of values are filled up to 16");

/// Bytes that memory is asked for while a product runs, so that the next one finds them.
struct Ahead {
  const std::byte* from = nullptr;
  std::int64_t bytes = 0;
};

/// A block of 64 keys and values as the products take them: packed, or where they lie in a page.
struct KeyBlock {
  CacheFormat format = CacheFormat::f32;
  const std::byte* keys = nullptr;    // [width, key_block]
  const std::byte* values = nullptr;  // [key_block, value_row]
  std::int64_t value_row = 0;
  const float* key_scales = nullptr;  // [key_block], of keys and values in whole numbers
  const float* value_scales = nullptr;
  std::int64_t first = 0;                  // its first key
  bool finite = true;                      // no value that a row does not see needs care
  bool streamed = false;                   // read once, from where it lies
  Ahead with_keys = {}, with_values = {};  // asked for while the products with keys and with values run

  std::int64_t number_bytes() const { return PageLayout{.format = format}.number_bytes(); }
  const std::byte* key_column(std::int64_t j) const { return keys + j * number_bytes(); }
  const std::byte* value(std::int64_t j) const { return values + j * value_row * number_bytes(); }
};

inline const float* floats_at(const std::byte* at) { return reinterpret_cast<const float*>(at); }
inline const std::byte* bytes_of(const float* values) { return reinterpret_cast<const std::byte*>(values); }

/// Calls work.operator()<E>() with the type that a format keeps numbers in.
template <class Work>
HWY_INLINE auto with_stored(CacheFormat format, Work&& work) {
  if (format == CacheFormat::f16) return work.template operator()<Half>();
  if (format == CacheFormat::int8) return work.template operator()<std::int8_t>();
  return work.template operator()<float>();
}

// Both need a vector of numbers to be there, and no alignment.
HWY_INLINE Vector load_stored(const float* from) { return hn::LoadU(floats, from); }
HWY_INLINE Vector load_stored(const Half* from) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, Floats> halves;
  return hn::PromoteTo(floats, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
#else
  // As to_float(): what Highway does where there is no instruction makes numbers of infinity and NaN.
  const hn::Rebind<std::uint16_t, Floats> halves;
  const Integers integers;
  const auto bits = hn::PromoteTo(integers, hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(from)));
  const auto magnitude = hn::And(bits, hn::Set(integers, 0x7fff));
  const Vector value = hn::Mul(hn::BitCast(floats, hn::ShiftLeft<13>(magnitude)), hn::Set(floats, 0x1p112f));
  const auto is_number = hn::Lt(magnitude, hn::Set(integers, 0x7c00));
  const auto exponent = hn::IfThenZeroElse(is_number, hn::Set(integers, 0x7f800000));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(integers, 0x8000)));
  return hn::BitCast(floats, hn::Or(hn::Or(hn::BitCast(integers, value), exponent), sign));
#endif
}
HWY_INLINE Vector load_stored(const std::int8_t* from) {
  const hn::Rebind<std::int8_t, Floats> bytes;
  return hn::ConvertTo(floats, hn::PromoteTo(Integers(), hn::LoadU(bytes, from)));
}
HWY_INLINE float load_one(float from) { return from; }
HWY_INLINE float load_one(Half from) { return to_float(from); }
HWY_INLINE float load_one(std::int8_t from) { return from; }

/// Where a page holds token `slot` of a head, the first of a run that ends with the page or a group of its keys.
struct PageRun {
  const PageLayout& layout;
  const std::byte* page;  // null: nobody sees its keys
  std::int64_t slot, count, head;

  PageRun(const Problem& p, const AttentionWork& work, std::int64_t key)
      : layout(p.pages.layout),
        page(p.pages.pages[static_cast<std::size_t>(p.pages.starts[static_cast<std::size_t>(work.sequence)] +
                                                    key / layout.tokens)]),
        slot(key % layout.tokens),
        count(std::min(layout.columns() - slot % layout.columns(), layout.tokens - slot)),
        head(work.kv_head) {}

  const std::byte* keys() const { return page + layout.key_at(slot, head); }
  const std::byte* values() const { return page + layout.value_at(slot, head); }
  const float* key_scales() const { return floats_at(page + layout.key_scale_at(slot, head)); }
  const float* value_scales() const { return floats_at(page + layout.value_scale_at(slot, head)); }
};

/// One sequence's blocks of 64 keys and values where they lie in its pages.
class StoredBlocks {
 public:
  StoredBlocks(const Problem& p, std::int64_t sequence)
      : layout_(p.pages.layout), whole_(layout_.tokens > 0 && layout_.tokens % key_block == 0) {
    if (!whole_) return;
    pages_ = p.pages.pages.data() + p.pages.starts[static_cast<std::size_t>(sequence)];
    head_bytes_ = layout_.head_bytes(), values_at_ = layout_.value_at(0, 0);
    key_scales_at_ = layout_.key_scale_at(0, 0), value_scales_at_ = layout_.value_scale_at(0, 0);
  }
  /// Whether pages hold whole blocks.
  bool whole() const { return whole_; }
  /// All heads' block that begins with a key; null where no query to come sees it, so that the cache does not have it.
  const std::byte* group(std::int64_t first) const {
    const std::byte* page = pages_[first / layout_.tokens];
    return page ? page + first % layout_.tokens / key_block * layout_.heads * head_bytes_ : nullptr;
  }
  KeyBlock of_head(const std::byte* group, std::int64_t head) const {
    const std::byte* here = group + head * head_bytes_;
    const bool scaled = layout_.format == CacheFormat::int8;
    return {.format = layout_.format,
            .keys = here,
            .values = here + values_at_,
            .value_row = layout_.value_row(),
            .key_scales = scaled ? floats_at(here + key_scales_at_) : nullptr,
            .value_scales = scaled ? floats_at(here + value_scales_at_) : nullptr};
  }
  /// While the block is worked on memory is asked for this one.
  void ask_for(const std::byte* group, std::int64_t head, KeyBlock& during) const {
    const std::byte* there = group + head * head_bytes_;
    during.with_keys = {there, values_at_};
    during.with_values = {there + values_at_, head_bytes_ - values_at_};
  }

 private:
  const PageLayout& layout_;
  bool whole_;
  const std::byte* const* pages_ = nullptr;
  std::int64_t head_bytes_ = 0, values_at_ = 0, key_scales_at_ = 0, value_scales_at_ = 0;
};

/// Where unpack_block() writes.
struct UnpackedBlock {
  float *keys, *values;  // [width, key_block], [key_block, value_width]
  std::int64_t width, value_width;
  float *key_scales, *value_scales;  // [key_block]
};

template <class E>
static void unpack_run(const PageRun& run, std::int64_t j, std::int64_t count, const UnpackedBlock& to) {
  const E* keys = reinterpret_cast<const E*>(run.keys());
  for (std::int64_t c = 0; c < to.width; ++c, keys += run.layout.columns()) {
    float* out = to.keys + c * key_block + j;
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) hn::StoreU(load_stored(keys + i), floats, out + i);
    for (; i < count; ++i) out[i] = load_one(keys[i]);
  }
  const E* values = reinterpret_cast<const E*>(run.values());
  for (std::int64_t i = 0; i < count; ++i, values += run.layout.value_row())
    for (std::int64_t c = 0; c < to.value_width; c += lanes)
      hn::Store(load_stored(values + c), floats, to.values + (j + i) * to.value_width + c);
  if (run.layout.format != CacheFormat::int8) return;
  std::copy_n(run.key_scales(), count, to.key_scales + j);
  std::copy_n(run.value_scales(), count, to.value_scales + j);
}

/// Keys block .. block + count as f32. Those that nobody sees and those beyond the last are 0.
static KeyBlock unpack_block(const Problem& p, const AttentionWork& work, const KeySpan& keys,
                             const UnpackedBlock& to) {
  const std::int64_t count = keys.end - keys.begin;
  auto clear = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = 0; c < to.width; ++c)
      std::fill(to.keys + c * key_block + begin, to.keys + c * key_block + end, 0.0f);
    std::fill(to.values + begin * to.value_width, to.values + end * to.value_width, 0.0f);
    std::fill(to.key_scales + begin, to.key_scales + end, 0.0f);
    std::fill(to.value_scales + begin, to.value_scales + end, 0.0f);
  };
  for (std::int64_t j = 0; j < count;) {
    const PageRun run(p, work, keys.begin + j);
    const std::int64_t here = std::min(run.count, count - j);
    if (run.page)
      with_stored(run.layout.format, [&]<class E>() { unpack_run<E>(run, j, here, to); });
    else
      clear(j, j + here);
    j += here;
  }
  clear(count, key_block);
  const bool scaled = p.pages.layout.format == CacheFormat::int8;
  return {.keys = bytes_of(to.keys),
          .values = bytes_of(to.values),
          .value_row = to.value_width,
          .key_scales = scaled ? to.key_scales : nullptr,
          .value_scales = scaled ? to.value_scales : nullptr};
}

/// As Product, with b as it lies in a page. Each value of c is the same chain of multiply-adds.
struct StoredProduct {
  const float* a;
  std::int64_t a_row, a_step;
  const std::byte* b;
  std::int64_t b_row;
  float* c;
  std::int64_t c_row, steps;
  bool fresh;
  Ahead ahead = {};
};

template <class E, int rows, int vectors>
HWY_INLINE void stored_tile(const StoredProduct& p, std::int64_t column, std::int64_t ahead_step) {
  const E* b = reinterpret_cast<const E*>(p.b) + column;
  const float* a = p.a;
  float* c = p.c + column;
  const std::byte* ahead = p.ahead.from;
  Vector sum[rows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int n = 0; n < vectors; ++n)
      sum[r][n] = p.fresh ? hn::Zero(floats) : hn::Load(floats, c + r * p.c_row + n * lanes);
  }
  for (std::int64_t k = 0; k < p.steps; ++k, a += p.a_step, b += p.b_row, ahead += ahead_step) {
    for (std::int64_t byte = 0; byte < ahead_step; byte += 64) hwy::Prefetch(ahead + byte);
    Vector right[vectors];
#pragma GCC unroll 8
    for (int n = 0; n < vectors; ++n) right[n] = load_stored(b + n * lanes);
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

template <class E, int rows>
HWY_INLINE void multiply_stored_rows(const StoredProduct& p, std::int64_t width) {
  std::int64_t ahead_step = p.steps == 0 ? 0 : (p.ahead.bytes / p.steps + 63) / 64 * 64, column = 0;
  for (; column + tile_vectors * lanes <= width; column += tile_vectors * lanes, ahead_step = 0)
    stored_tile<E, rows, tile_vectors>(p, column, ahead_step);
  for (; column < width; column += lanes, ahead_step = 0) stored_tile<E, rows, 1>(p, column, ahead_step);
}

template <class E>
static HWY_NOINLINE void multiply_stored_as(const StoredProduct& p, std::int64_t rows, std::int64_t width) {
  switch (rows) {
    case 1:
      return multiply_stored_rows<E, 1>(p, width);
    case 2:
      return multiply_stored_rows<E, 2>(p, width);
    case 3:
      return multiply_stored_rows<E, 3>(p, width);
    case 4:
      return multiply_stored_rows<E, 4>(p, width);
    case 5:
      return multiply_stored_rows<E, 5>(p, width);
    default:
      return multiply_stored_rows<E, 6>(p, width);
  }
}

/// `width` columns, a multiple of the vector width, of 1 to tile_rows rows.
static void multiply_stored(CacheFormat format, const StoredProduct& p, std::int64_t rows, std::int64_t width) {
  static_assert(tile_rows == 6 && streamed_rows == tile_rows);
  with_stored(format, [&]<class E>() { multiply_stored_as<E>(p, rows, width); });
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
