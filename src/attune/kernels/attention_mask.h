#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace attune {

/// Some queries of one sequence that has `keys` keys: those at positions [first, first + count) among its keys. A
/// query's place is its position among the keys of its own sequence, so that a cache or a longer key side shifts
/// nothing; it may be negative (more queries than keys) or beyond the last key.
struct QuerySpan {
  std::int64_t sequence = 0, first = 0, count = 1, keys = 0;

  bool operator==(const QuerySpan&) const = default;
};

/// Keys [begin, end) of a sequence.
struct KeySpan {
  std::int64_t begin = 0, end = 0;
};

/// Positions [begin, end) of queries.
struct PositionSpan {
  std::int64_t begin = 0, end = 0;
};

/// How much some queries see of some keys.
enum class Cover { none, some, all };

/// Which keys a query sees. Kernels take keys in blocks of 64 that begin at multiples of 64: a block that is `none` for
/// their queries costs nothing, one that is `all` is not looked at, and for one that is `some` they ask for each
/// query's bits. A pattern need not know better than `some`, but what it says must be true.
class MaskPattern {
 public:
  virtual ~MaskPattern() = default;

  /// Bit j is set where the query at `query.first` sees key block + j. Bits of keys beyond query.keys are not looked
  /// at.
  virtual std::uint64_t bits(const QuerySpan& query, std::int64_t block) const = 0;
  /// What all of the queries see of all of the keys, which lie in one block.
  virtual Cover cover(const QuerySpan& queries, const KeySpan& keys) const = 0;
  /// None of the queries sees a key outside: where the search for blocks begins and ends.
  virtual KeySpan reach(const QuerySpan& queries) const { return {0, queries.keys}; }
  /// Which of the queries may see one of the keys: positions [begin, end), none outside.
  virtual PositionSpan viewers(const QuerySpan& queries, const KeySpan&) const {
    return {queries.first, queries.first + queries.count};
  }
  /// Whether no query at `first` or later sees any of the keys, however many keys there will be: a cache need not keep
  /// them. False where the pattern does not know.
  virtual bool hides_for_good(std::int64_t /*sequence*/, std::int64_t /*first*/, const KeySpan& /*keys*/) const {
    return false;
  }
  /// The pattern made ready for a call with these queries, by sequence; null: it is ready.
  virtual std::shared_ptr<const MaskPattern> compiled(std::span<const QuerySpan>) const { return nullptr; }
};

/// Which keys each query may attend to: a value, made by the functions of ops/attention_masks.h and combined with & and
/// |. The default hides nothing.
class AttentionMask {
 public:
  AttentionMask() = default;
  explicit AttentionMask(std::shared_ptr<const MaskPattern> pattern) : pattern_(std::move(pattern)) {}

  bool hides_nothing() const { return !pattern_; }
  const std::shared_ptr<const MaskPattern>& pattern() const { return pattern_; }

  /// Bit j: the query at `query.first` sees key block + j. No bit beyond the last key.
  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const {
    const std::uint64_t there = first_bits(query.keys - block);
    return pattern_ ? pattern_->bits(query, block) & there : there;
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const {
    return pattern_ ? pattern_->cover(queries, keys) : Cover::all;
  }
  KeySpan reach(const QuerySpan& queries) const {
    if (!pattern_) return {0, queries.keys};
    const KeySpan keys = pattern_->reach(queries);
    return {std::clamp<std::int64_t>(keys.begin, 0, queries.keys), std::clamp<std::int64_t>(keys.end, 0, queries.keys)};
  }
  PositionSpan viewers(const QuerySpan& queries, const KeySpan& keys) const {
    const std::int64_t first = queries.first, last = queries.first + queries.count;
    if (!pattern_) return {first, last};
    const PositionSpan seen = pattern_->viewers(queries, keys);
    return {std::clamp(seen.begin, first, last), std::clamp(seen.end, first, last)};
  }
  bool hides_for_good(std::int64_t sequence, std::int64_t first, const KeySpan& keys) const {
    return pattern_ && pattern_->hides_for_good(sequence, first, keys);
  }
  /// The mask made ready for a call with these queries, [sequences].
  AttentionMask compiled(std::span<const QuerySpan> sequences) const {
    std::shared_ptr<const MaskPattern> ready = pattern_ ? pattern_->compiled(sequences) : nullptr;
    return ready ? AttentionMask(std::move(ready)) : *this;
  }
  bool sees(std::int64_t sequence, std::int64_t query, std::int64_t key, std::int64_t keys) const {
    return bits({sequence, query, 1, keys}, key / 64 * 64) >> (key % 64) & 1;
  }

  /// The lowest n bits; none where n <= 0, all from 64 on.
  static std::uint64_t first_bits(std::int64_t n) {
    return n <= 0 ? 0 : n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
  }

 private:
  std::shared_ptr<const MaskPattern> pattern_;  // null: every query sees every key
};

}  // namespace attune
