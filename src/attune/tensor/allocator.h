#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <set>
#include <vector>

#include "attune/tensor/storage.h"

namespace attune {

/// A caching allocator: big segments from the system, cut into blocks that are handed out best fit first, split when
/// too large and merged with their free neighbours when given back. Small and large requests live in segments of their
/// own, so that a small block that stays never breaks up the space of a large one. One lock; calls are few and short
/// beside the arithmetic.
class Allocator {
 public:
  struct Block;  // what give_back() needs

  /// The process's; never destroyed, so that tensors with static lifetime may give back at any time.
  static Allocator& instance();

  Allocator();
  ~Allocator();  // gives everything back: no block may be in use
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  Block* take(std::size_t bytes);
  void give_back(Block* block);
  static std::byte* address_of(const Block* block);

  AllocatorStatistics statistics();
  void reset_peak();
  void release_unused();

 private:
  struct SmallestFirst {
    bool operator()(const Block* a, const Block* b) const;
  };
  using FreeBlocks = std::set<Block*, SmallestFirst>;
  struct Pool {
    std::size_t segment_size;
    FreeBlocks free;
  };

  Pool& pool_for(std::size_t bytes);
  Block* new_block();
  void insert_free(Pool& pool, Block* block);
  void erase_free(Pool& pool, Block* block);
  void absorb_next(Block* block);  // the next block's bytes join `block`
  void add_segment(Pool& pool, std::size_t bytes);
  void release_segments(Pool& pool);

  std::mutex mutex_;
  Pool small_{std::size_t{8} << 20, {}};
  Pool large_{std::size_t{64} << 20, {}};
  std::deque<Block> blocks_;    // every Block ever made
  std::vector<Block*> unused_;  // those that describe no bytes now
  AllocatorStatistics statistics_;
};

}  // namespace attune
