#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attune {

enum class BatchOrder { shuffled, sequential };

struct BatchOptions {
  std::int64_t batch_tokens = 0;  // the most tokens in a batch; 0: no bound
  std::int64_t batch_size = 0;    // the most examples in a batch; 0: no bound
  BatchOrder order = BatchOrder::shuffled;
  std::uint64_t seed = 0;
};

/// Indices of examples in the order of an epoch: 0, 1, ... or a shuffle that depends on (seed, epoch) alone.
std::vector<std::int64_t> epoch_order(std::int64_t examples, const BatchOptions& options, std::int64_t epoch);

/// Cuts an epoch's order into batches: each takes the next examples while it stays within batch_tokens and batch_size.
/// Nothing is padded, so lengths may mix freely. An example longer than batch_tokens is a batch of its own. Every
/// example is in exactly one batch. Depends on lengths, options and epoch alone: a resumed run makes the same batches
/// again. Throws Error where neither bound is given, one is negative, or a length is.
std::vector<std::vector<std::int64_t>> make_batches(std::span<const std::int64_t> lengths, const BatchOptions& options,
                                                    std::int64_t epoch);

/// How many batches make_batches makes of each epoch of [begin, end).
std::vector<std::int64_t> count_batches(std::span<const std::int64_t> lengths, const BatchOptions& options,
                                        std::int64_t begin, std::int64_t end);

/// Batches without end, for runs counted in steps: a batch runs on over an epoch's end into the next epoch's order, so
/// that all but those bounded by tokens have the same size. Its place is two numbers; the batches after a place depend
/// on lengths, options and that place alone.
class BatchStream {
 public:
  struct Place {
    std::int64_t epoch = 0;
    std::int64_t next = 0;  // in the epoch's order
  };

  /// Throws Error as make_batches does, without examples, and where the place is outside.
  BatchStream(std::vector<std::int64_t> lengths, const BatchOptions& options, Place place);
  BatchStream(std::vector<std::int64_t> lengths, const BatchOptions& options)
      : BatchStream(std::move(lengths), options, Place{}) {}

  std::vector<std::int64_t> next();
  /// Where the next batch begins.
  Place place() const { return place_; }

 private:
  std::vector<std::int64_t> lengths_;
  BatchOptions options_;
  Place place_;
  std::vector<std::int64_t> order_;  // of place_.epoch
};

}  // namespace attune
