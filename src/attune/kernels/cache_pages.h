#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace attune {

/// How a key-value cache keeps numbers: as they are; in IEEE half precision, rounded to nearest, at most 65504; or as
/// whole numbers of -127 to 127, rounded to nearest, times the scale of their row and head: its largest magnitude /
/// 127.
enum class CacheFormat { f32, f16, int8 };

namespace kernels {

/// Where the rows of `tokens` tokens lie in a page of one layer: in groups of min(64, tokens) tokens, one behind the
/// other, so that attention reads memory in order. A group has, for one head after the other and each on a cache line:
/// keys, [key_width, columns], a column a key, because that is what the products take; values, [columns, value_row],
/// rows filled up with zeros; and where the format has scales those of the keys and of the values, f32, [columns].
struct PageLayout {
  CacheFormat format = CacheFormat::f32;
  std::int64_t heads = 0, key_width = 0, value_width = 0;
  std::int64_t tokens = 0;

  std::int64_t columns() const { return std::min<std::int64_t>(tokens, 64); }
  std::int64_t value_row() const { return up_to_multiple(value_width, 16); }
  std::int64_t number_bytes() const { return format == CacheFormat::f32 ? 4 : format == CacheFormat::f16 ? 2 : 1; }
  std::int64_t bytes() const { return (tokens + columns() - 1) / columns() * heads * head_bytes(); }

  // Bytes from the page's begin to a token's numbers of a head: its key is a column.
  std::int64_t key_at(std::int64_t token, std::int64_t head) const {
    return head_at(token, head) + token % columns() * number_bytes();
  }
  std::int64_t value_at(std::int64_t token, std::int64_t head) const {
    return head_at(token, head) + keys_bytes() + token % columns() * value_row() * number_bytes();
  }
  std::int64_t key_scale_at(std::int64_t token, std::int64_t head) const {
    return head_at(token, head) + keys_bytes() + values_bytes() + token % columns() * 4;
  }
  std::int64_t value_scale_at(std::int64_t token, std::int64_t head) const {
    return key_scale_at(token, head) + scales_bytes();
  }
  /// Of a whole group.
  std::int64_t head_bytes() const { return keys_bytes() + values_bytes() + 2 * scales_bytes(); }

 private:
  static std::int64_t up_to_multiple(std::int64_t n, std::int64_t of) { return (n + of - 1) / of * of; }
  std::int64_t keys_bytes() const { return up_to_multiple(columns() * key_width * number_bytes(), 64); }
  std::int64_t values_bytes() const { return up_to_multiple(columns() * value_row() * number_bytes(), 64); }
  std::int64_t scales_bytes() const { return format == CacheFormat::int8 ? up_to_multiple(columns() * 4, 64) : 0; }
  std::int64_t head_at(std::int64_t token, std::int64_t head) const {
    return (token / columns() * heads + head) * head_bytes();
  }
};

/// The keys and values of sequences in a cache: sequence s has pages[starts[s] .. starts[s + 1]). A page that the mask
/// hides from all queries is never read and may be null.
struct KeyPages {
  PageLayout layout = {};  // without tokens: the keys are not paged
  std::span<const std::byte* const> pages = {};
  std::span<const std::int64_t> starts = {};
};

}  // namespace kernels
}  // namespace attune
