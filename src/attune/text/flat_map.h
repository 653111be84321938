#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace attune {

inline std::uint64_t mix_bits(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return x ^ x >> 32;
}

/// Up to 7 bytes as a number; distinct for distinct bytes of one length.
inline std::uint64_t few_bytes(const char* at, std::size_t count) {
  const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(at[i])}; };
  if (count == 0) return 0;
  if (count < 4) return byte(0) | byte(count / 2) << 8 | byte(count - 1) << 16;
  std::uint32_t begin, end;
  std::memcpy(&begin, at, 4);
  std::memcpy(&end, at + count - 4, 4);
  return begin | std::uint64_t{end} << 32;
}

/// A fast hash of bytes for tables inside one process; not for files.
inline std::uint64_t hash_bytes(std::string_view text) {
  std::uint64_t hash = text.size() * 0x9E3779B97F4A7C15u;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0x9FB21C651E98DF25u;
    hash ^= hash >> 35;
  }
  return mix_bits(hash ^ few_bytes(at, left));
}

/// Open addressing with linear probing from a 64-bit key (never ~0) to a small value. Grows at two thirds full.
template <class Value>
class FlatMap {
 public:
  explicit FlatMap(std::size_t expected = 0) { rebuild(expected); }

  void reserve(std::size_t expected) {
    if (expected * 3 > slots_.size() * 2) rebuild(expected);
  }
  std::size_t size() const { return size_; }

  const Value* find(std::uint64_t key) const {
    for (std::size_t i = mix_bits(key) & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].key == key) return &slots_[i].value;
      if (slots_[i].key == empty) return nullptr;
    }
  }
  Value* find(std::uint64_t key) { return const_cast<Value*>(static_cast<const FlatMap*>(this)->find(key)); }

  /// Asks for the memory that a look-up of the key will read.
  void prefetch(std::uint64_t key) const { __builtin_prefetch(&slots_[mix_bits(key) & mask_]); }

  /// The value at the key, made by default where there was none.
  Value& operator[](std::uint64_t key) {
    if ((size_ + 1) * 3 > slots_.size() * 2) rebuild(size_ * 2 + 8);
    std::size_t i = mix_bits(key) & mask_;
    while (slots_[i].key != empty) {
      if (slots_[i].key == key) return slots_[i].value;
      i = (i + 1) & mask_;
    }
    ++size_;
    slots_[i].key = key;
    slots_[i].value = Value();
    return slots_[i].value;
  }

  /// In an order that depends on the keys alone, given the order of insertion.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const Slot& slot : slots_)
      if (slot.key != empty) visit(slot.key, slot.value);
  }

 private:
  static constexpr std::uint64_t empty = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = empty;
    Value value{};
  };

  void rebuild(std::size_t expected) {
    std::size_t capacity = 16;
    while (capacity * 2 < expected * 3 + 3) capacity *= 2;
    std::vector<Slot> old(capacity);
    old.swap(slots_);
    mask_ = capacity - 1;
    for (Slot& slot : old) {
      if (slot.key == empty) continue;
      std::size_t i = mix_bits(slot.key) & mask_;
      while (slots_[i].key != empty) i = (i + 1) & mask_;
      slots_[i] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0, size_ = 0;
};

inline std::uint64_t pair_key(std::int32_t first, std::int32_t second) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) << 32 | static_cast<std::uint32_t>(second);
}

}  // namespace attune
