#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "attune/base/file.h"

namespace attune {

/// A block of bytes that tensors share, 64-byte aligned where it is the allocator's. Given back by its destructor.
struct Storage {
  std::byte* data = nullptr;
  std::size_t size = 0;
  bool writable = true;
  std::int64_t version = 0;            // raised by Tensor::mark_changed(): packed copies know by it that they are stale
  std::shared_ptr<const void> keeper;  // owns the bytes where the allocator does not
  void* block = nullptr;               // the allocator's, where it does

  Storage() = default;
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
};

/// From the caching allocator: blocks given back are kept and handed out again (best fit, split and merged), so that a
/// training step asks the system for nothing after the first of its size. Throws Error where the system has no more
/// memory.
std::shared_ptr<Storage> allocate(std::size_t bytes);
/// A mapped file's bytes: read-only.
std::shared_ptr<Storage> storage_of(const MappedFile& file);

struct AllocatorStatistics {
  std::int64_t system_calls = 0;  // times that the system was asked for memory
  std::int64_t bytes_in_use = 0;  // by live storages
  std::int64_t peak_in_use = 0;   // the most there ever were, since the last reset
  std::int64_t bytes_held = 0;    // from the system, in use or kept
};
AllocatorStatistics allocator_statistics();
void reset_peak_in_use();
/// Gives memory that nobody uses back to the system.
void release_unused_memory();

}  // namespace attune
