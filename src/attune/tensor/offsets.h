#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace attune {

/// Where the sequences of a ragged batch begin: sequence i is rows [begin(i), end(i)) of a [tokens, ...] tensor.
/// Nothing is padded: a sequence of 5 tokens costs 5 rows, an empty one none. Copies share.
class Offsets {
 public:
  Offsets();                                                           // no sequences
  static Offsets from_lengths(std::span<const std::int64_t> lengths);  // throws Error on a negative length
  static Offsets single(std::int64_t length);

  std::int64_t count() const { return static_cast<std::int64_t>(starts_->size()) - 1; }
  std::int64_t total() const { return starts_->back(); }
  std::int64_t begin(std::int64_t i) const { return (*starts_)[static_cast<std::size_t>(i)]; }
  std::int64_t end(std::int64_t i) const { return (*starts_)[static_cast<std::size_t>(i) + 1]; }
  std::int64_t length(std::int64_t i) const { return end(i) - begin(i); }
  std::int64_t longest() const;
  std::span<const std::int64_t> starts() const { return *starts_; }  // count() + 1 values, first 0
  bool operator==(const Offsets& other) const { return *starts_ == *other.starts_; }

 private:
  std::shared_ptr<const std::vector<std::int64_t>> starts_;
};

}  // namespace attune
