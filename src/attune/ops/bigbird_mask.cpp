// attention_masks.h's bigbird().
#include <bit>
#include <map>
#include <mutex>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/ops/attention_masks.h"

namespace attune {

namespace {

/// Which of a sequence's blocks see which.
struct BlockTable {
  std::int64_t count;
  std::vector<bool> seen;  // [query blocks, key blocks]

  BlockTable(const BigBirdBlocks& sizes, std::int64_t blocks)
      : count(blocks), seen(static_cast<std::size_t>(blocks * blocks)) {
    auto global = [&](std::int64_t b) {
      return b < sizes.global_blocks || (!sizes.causal && b >= count - sizes.global_blocks);
    };
    const auto drawn_for = static_cast<std::uint32_t>(sizes.causal ? 0 : count);
    for (std::int64_t a = 0; a < count; ++a) {
      std::vector<std::pair<std::uint32_t, std::int64_t>> others;  // drawn: those with the smallest numbers
      for (std::int64_t b = 0; b < (sizes.causal ? a + 1 : count); ++b) {
        if (global(a) || global(b) || std::abs(a - b) <= sizes.window_blocks / 2)
          seen[static_cast<std::size_t>(a * count + b)] = true;
        else
          others.emplace_back(
              philox(sizes.seed, static_cast<std::uint64_t>(a), static_cast<std::uint32_t>(b), drawn_for)[0], b);
      }
      std::ranges::sort(others);
      others.resize(std::min(others.size(), static_cast<std::size_t>(sizes.random_blocks)));
      for (const auto& [number, b] : others) seen[static_cast<std::size_t>(a * count + b)] = true;
    }
  }
};

class BigBird final : public MaskPattern {
 public:
  explicit BigBird(const BigBirdBlocks& sizes) : sizes_(sizes), made_(std::make_shared<Made>()) {}

  std::shared_ptr<const MaskPattern> compiled(std::span<const QuerySpan> sequences) const override {
    auto ready = std::make_shared<BigBird>(*this);
    for (const QuerySpan& queries : sequences) ready->of_sequence_.push_back(table_of(queries.keys));
    return ready;
  }
  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    const BlockTable& table = table_for(query);
    std::uint64_t all = 0;
    for (std::int64_t j = block; j < std::min(block + 64, query.keys);) {
      const std::int64_t end = std::min((j / sizes_.block + 1) * sizes_.block, block + 64);
      if (sees(table, query.first, j))
        all |= AttentionMask::first_bits(end - block) & ~AttentionMask::first_bits(j - block);
      j = end;
    }
    return all;
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    const BlockTable& table = table_for(queries);
    bool none = true, all = true;
    for (std::int64_t q = queries.first; q < queries.first + queries.count;
         q = q < 0 ? q + 1 : (q / sizes_.block + 1) * sizes_.block)
      for (std::int64_t j = keys.begin; j < keys.end; j = (j / sizes_.block + 1) * sizes_.block)
        (sees(table, q, j) ? none : all) = false;
    return none ? Cover::none : all ? Cover::all : Cover::some;
  }

 private:
  bool sees(const BlockTable& table, std::int64_t query, std::int64_t key) const {
    if (query < 0) return false;
    const std::int64_t a = std::min(query / sizes_.block, table.count - 1);
    return table.seen[static_cast<std::size_t>(a * table.count + key / sizes_.block)];
  }
  const BlockTable& table_for(const QuerySpan& queries) const {
    const auto s = static_cast<std::size_t>(queries.sequence);
    return s < of_sequence_.size() ? *of_sequence_[s] : *table_of(queries.keys);
  }
  /// Made once for each number of blocks, and kept: the table is small beside the scores that it saves.
  std::shared_ptr<const BlockTable> table_of(std::int64_t keys) const {
    std::int64_t count = (keys + sizes_.block - 1) / sizes_.block;
    // A decoder's blocks do not depend on their number: few tables serve a text of any length while it is written.
    if (sizes_.causal) count = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
    const std::lock_guard lock(made_->mutex);
    auto& table = made_->tables[count];
    if (!table) table = std::make_shared<const BlockTable>(sizes_, count);
    return table;
  }

  struct Made {
    std::mutex mutex;
    std::map<std::int64_t, std::shared_ptr<const BlockTable>> tables;  // by number of blocks
  };
  BigBirdBlocks sizes_;
  std::shared_ptr<Made> made_;
  std::vector<std::shared_ptr<const BlockTable>> of_sequence_;  // where compiled
};

}  // namespace

AttentionMask bigbird(const BigBirdBlocks& sizes) {
  check(sizes.block >= 1 && sizes.window_blocks >= 1 && sizes.window_blocks % 2 == 1 && sizes.global_blocks >= 0 &&
            sizes.random_blocks >= 0,
        "attention mask bigbird: blocks of {}, {} in the window, {} global, {} random: expected 1 or more, odd, and 0 "
        "or more",
        sizes.block, sizes.window_blocks, sizes.global_blocks, sizes.random_blocks);
  return AttentionMask(std::make_shared<const BigBird>(sizes));
}

}  // namespace attune
