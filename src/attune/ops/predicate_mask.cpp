// attention_masks.h's where(): a predicate, compiled once for the sizes of a call.
#include <deque>
#include <mutex>

#include "attune/base/error.h"
#include "attune/ops/attention_masks.h"

namespace attune {

namespace {

constexpr std::int64_t block_size = 64;  // of queries and of keys

/// What some queries of one sequence see, block by block.
class BlockMap {
 public:
  BlockMap(const QuerySpan& queries, const MaskPattern& pattern)
      : first_(queries.first),
        last_(queries.first + queries.count),
        key_blocks_((queries.keys + block_size - 1) / block_size) {
    std::uint64_t bits[block_size];
    for (std::int64_t q = first_; q < last_; q += block_size)
      for (std::int64_t b = 0; b < key_blocks_; ++b) {
        const std::uint64_t there = AttentionMask::first_bits(queries.keys - b * block_size);
        const std::int64_t rows = std::min(block_size, last_ - q);
        std::uint64_t any = 0, all = there;
        for (std::int64_t i = 0; i < rows; ++i) {
          bits[i] = pattern.bits({queries.sequence, q + i, 1, queries.keys}, b * block_size) & there;
          any |= bits[i], all &= bits[i];
        }
        if (any == 0) {
          blocks_.push_back(empty);
        } else if (all == there) {
          blocks_.push_back(full);
        } else {
          blocks_.push_back(static_cast<std::int64_t>(bits_.size()));
          bits_.insert(bits_.end(), bits, bits + rows);
        }
      }
  }

  std::uint64_t bits(std::int64_t query, std::int64_t block) const {
    const std::int64_t state = at((query - first_) / block_size, block / block_size);
    if (state == empty) return 0;
    return state == full ? ~std::uint64_t{0} : bits_[static_cast<std::size_t>(state + (query - first_) % block_size)];
  }
  Cover cover(const QuerySpan& queries, std::int64_t block) const {
    bool none = true, all = true;
    for (std::int64_t row = (queries.first - first_) / block_size;
         row <= (queries.first + queries.count - 1 - first_) / block_size; ++row) {
      const std::int64_t state = at(row, block / block_size);
      none &= state == empty, all &= state == full;
    }
    return none ? Cover::none : all ? Cover::all : Cover::some;
  }

 private:
  static constexpr std::int64_t empty = -1, full = -2;
  std::int64_t at(std::int64_t row, std::int64_t block) const {
    return blocks_[static_cast<std::size_t>(row * key_blocks_ + block)];
  }

  std::int64_t first_, last_, key_blocks_;
  std::vector<std::int64_t> blocks_;  // [query blocks, key blocks]: empty, full, or where in bits_ its rows begin
  std::vector<std::uint64_t> bits_;
};

/// A predicate as a map for each sequence.
class Compiled final : public MaskPattern {
 public:
  Compiled(std::span<const QuerySpan> sequences, const MaskPattern& pattern) {
    for (const QuerySpan& queries : sequences) maps_.emplace_back(queries, pattern);
  }
  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    return maps_[static_cast<std::size_t>(query.sequence)].bits(query.first, block);
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    return maps_[static_cast<std::size_t>(queries.sequence)].cover(queries, keys.begin);
  }

 private:
  std::vector<BlockMap> maps_;
};

class Where final : public MaskPattern {
 public:
  using Predicate = std::function<bool(std::int64_t, std::int64_t, std::int64_t)>;
  explicit Where(Predicate predicate) : predicate_(std::move(predicate)) {}

  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    std::uint64_t all = 0;
    for (std::int64_t j = block; j < std::min(block + block_size, query.keys); ++j)
      all |= std::uint64_t{predicate_(query.first, j, query.sequence)} << (j - block);
    return all;
  }
  Cover cover(const QuerySpan&, const KeySpan&) const override { return Cover::some; }

  std::shared_ptr<const MaskPattern> compiled(std::span<const QuerySpan> sequences) const override {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : made_)
      if (std::ranges::equal(entry.sequences, sequences)) return entry.pattern;
    if (made_.size() == most_made) made_.pop_front();
    made_.push_back({{sequences.begin(), sequences.end()}, std::make_shared<const Compiled>(sequences, *this)});
    return made_.back().pattern;
  }

 private:
  struct Entry {
    std::vector<QuerySpan> sequences;
    std::shared_ptr<const MaskPattern> pattern;
  };
  static constexpr std::size_t most_made = 4;  // the layers of a model share a mask; another batch needs another map

  Predicate predicate_;
  mutable std::mutex mutex_;
  mutable std::deque<Entry> made_;
};

}  // namespace

AttentionMask where(std::function<bool(std::int64_t, std::int64_t, std::int64_t)> predicate) {
  check(static_cast<bool>(predicate), "attention mask where: there is no predicate");
  return AttentionMask(std::make_shared<const Where>(std::move(predicate)));
}

}  // namespace attune
