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

/// Where the rows of `tokens` tokens lie in a page of one layer. A head has, one behind the other and each on a cache
/// line: keys, values, and where the format has scales those of the keys and of the values, f32, [tokens]. Keys stand
/// as columns, [groups, key_width, columns], because that is what the products take; where a group is a whole block of
/// 64 keys, attention reads it where it lies. Values: [tokens, value_row], filled up with zeros.
struct PageLayout {
  CacheFormat format = CacheFormat::f32;
  std::int64_t heads = 0, key_width = 0, value_width = 0;
  std::int64_t tokens = 0;

  std::int64_t columns() const { return std::min<std::int64_t>(tokens, 64); }
  std::int64_t value_row() const { return up_to_multiple(value_width, 16); }
  std::int64_t key_index(std::int64_t token, std::int64_t c) const {
    return (token / columns() * key_width + c) * columns() + token % columns();
  }
  std::int64_t value_index(std::int64_t token) const { return token * value_row(); }

  // Bytes from the page's begin to a head's parts.
  std::int64_t keys_at(std::int64_t head) const { return head * head_bytes(); }
  std::int64_t values_at(std::int64_t head) const { return keys_at(head) + keys_bytes(); }
  std::int64_t key_scales_at(std::int64_t head) const { return values_at(head) + values_bytes(); }
  std::int64_t value_scales_at(std::int64_t head) const { return key_scales_at(head) + scales_bytes(); }
  std::int64_t bytes() const { return heads * head_bytes(); }

  std::int64_t number_bytes() const { return format == CacheFormat::f32 ? 4 : format == CacheFormat::f16 ? 2 : 1; }

 private:
  static std::int64_t up_to_multiple(std::int64_t n, std::int64_t of) { return (n + of - 1) / of * of; }
  std::int64_t keys_bytes() const {
    return up_to_multiple(up_to_multiple(tokens, columns()) * key_width * number_bytes(), 64);
  }
  std::int64_t values_bytes() const { return up_to_multiple(tokens * value_row() * number_bytes(), 64); }
  std::int64_t scales_bytes() const { return format == CacheFormat::int8 ? up_to_multiple(tokens * 4, 64) : 0; }
  std::int64_t head_bytes() const { return keys_bytes() + values_bytes() + 2 * scales_bytes(); }
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
