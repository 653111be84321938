#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attune/text/flat_map.h"

namespace attune {

/// Distinct strings numbered in the order of their coming; all bytes lie in one buffer.
class StringTable {
 public:
  static constexpr std::int32_t none = -1;

  /// The number of `text`, or none.
  std::int32_t find(std::string_view text) const { return find(text, hash_bytes(text)); }
  /// The same where the hash_bytes() of the text is known.
  std::int32_t find(std::string_view text, std::uint64_t hash) const {
    if (slots_.empty()) return none;
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.number == none) return none;
      if (slot.tag == tag_of(hash) && (*this)[slot.number] == text) return slot.number;
    }
  }

  /// Asks for the memory that a look-up will read first.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(slots_.data() + (hash & mask())); }

  /// The number of `text`, which is added where it is new.
  std::int32_t add(std::string_view text) {
    if ((static_cast<std::size_t>(size()) + 1) * 3 > slots_.size() * 2) grow();
    const std::uint64_t hash = hash_bytes(text);
    std::size_t i = hash & mask();
    for (; slots_[i].number != none; i = (i + 1) & mask())
      if (slots_[i].tag == tag_of(hash) && (*this)[slots_[i].number] == text) return slots_[i].number;
    slots_[i] = {tag_of(hash), size()};
    bytes_.append(text);
    ends_.push_back(bytes_.size());
    return size() - 1;
  }

  /// Room for so many strings, before the first.
  void reserve(std::size_t strings) {
    std::size_t slots = 64;
    while (strings * 3 > slots * 2) slots *= 2;
    if (slots > slots_.size() && size() == 0) slots_.assign(slots, Slot{});
    ends_.reserve(strings);
  }

  std::int32_t size() const { return static_cast<std::int32_t>(ends_.size()); }

  /// Valid until the next add().
  std::string_view operator[](std::int32_t number) const {
    const auto n = static_cast<std::size_t>(number);
    const std::size_t begin = n == 0 ? 0 : ends_[n - 1];
    return std::string_view(bytes_).substr(begin, ends_[n] - begin);
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::int32_t number = none;
  };
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  std::size_t mask() const { return slots_.size() - 1; }

  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, Slot{});
    for (std::int32_t number = 0; number < size(); ++number) {
      const std::uint64_t hash = hash_bytes((*this)[number]);
      std::size_t i = hash & mask();
      while (slots_[i].number != none) i = (i + 1) & mask();
      slots_[i] = {tag_of(hash), number};
    }
  }

  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::vector<Slot> slots_;
};

}  // namespace attune
