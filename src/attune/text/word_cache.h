#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/text/flat_map.h"
#include "attune/text/model.h"

namespace attune {

/// The tokens of words seen before. Not for several threads at once. Full, it forgets everything and begins anew, so
/// that its memory is bounded (about 10 MB) and it follows a change of subject.
class WordCache {
 public:
  /// The word's tokens; `make(word, symbols)` finds them where they are not kept. Valid until the next call.
  template <class Make>
  std::span<const Symbol> get(std::string_view word, Make&& make) {
    if (word.size() > longest_word) return made(word, make);
    const std::uint64_t hash = hash_bytes(word) | 1;
    std::size_t i = hash & (capacity - 1);
    for (; slots_[i].hash != 0; i = (i + 1) & (capacity - 1)) {
      const Slot& slot = slots_[i];
      if (slot.hash == hash && slot.length == word.size() &&
          std::memcmp(bytes_.data() + slot.word, word.data(), word.size()) == 0)
        return std::span(symbols_).subspan(slot.first, slot.count);
    }
    const std::span<const Symbol> symbols = made(word, make);
    if (count_ * 2 >= capacity || symbols_.size() + symbols.size() > most_symbols) {
      clear();
      i = hash & (capacity - 1);
    }
    slots_[i] = {hash, static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(word.size()),
                 static_cast<std::uint32_t>(symbols_.size()), static_cast<std::uint32_t>(symbols.size())};
    bytes_.append(word);
    symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
    ++count_;
    return symbols;
  }

 private:
  static constexpr std::size_t capacity = 1 << 16, longest_word = 256, most_symbols = 1 << 19;
  struct Slot {
    std::uint64_t hash = 0;  // 0: free
    std::uint32_t word, length, first, count;
  };

  template <class Make>
  std::span<const Symbol> made(std::string_view word, Make&& make) {
    made_.clear();
    make(word, made_);
    return made_;
  }

  void clear() {
    slots_.assign(capacity, Slot{});
    bytes_.clear();
    symbols_.clear();
    count_ = 0;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(capacity);
  std::string bytes_;
  std::vector<Symbol> symbols_, made_;
  std::size_t count_ = 0;
};

}  // namespace attune
