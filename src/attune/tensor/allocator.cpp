#include "attune/tensor/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <functional>

#include "attune/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define ATTUNE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTUNE_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef ATTUNE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace attune {

struct Allocator::Block {
  std::byte* begin = nullptr;
  std::size_t size = 0;       // of the block, a multiple of the alignment
  std::size_t requested = 0;  // what its user asked for
  Pool* pool = nullptr;
  Block* before = nullptr;  // neighbours in the segment
  Block* after = nullptr;
  bool free = false;
  FreeBlocks::node_type node;  // its place in the set while it is not in there: moving nodes needs no malloc
};

namespace {

constexpr std::size_t alignment = 64;                        // a cache line, and the widest vector
constexpr std::size_t small_limit = std::size_t{256} << 10;  // larger requests come from the large segments
constexpr std::size_t segment_multiple = std::size_t{2} << 20;
constexpr std::size_t huge_page = std::size_t{2} << 20;

#ifdef ATTUNE_ADDRESS_SANITIZER
constexpr std::size_t red_zone = alignment;  // so that a write behind a tensor is caught though blocks lie side by side
void forbid_access(std::byte* begin, std::size_t size) { ASAN_POISON_MEMORY_REGION(begin, size); }
void allow_access(std::byte* begin, std::size_t size) { ASAN_UNPOISON_MEMORY_REGION(begin, size); }
#else
constexpr std::size_t red_zone = 0;
void forbid_access(std::byte*, std::size_t) {}
void allow_access(std::byte*, std::size_t) {}
#endif

std::size_t round_up(std::size_t bytes, std::size_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

/// Address space whose pages take up memory once they are written; begins at a huge page where that is worth it.
std::byte* map_segment(std::size_t size) {
  std::size_t mapped = size + huge_page;
  void* address = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(address);
  std::size_t skipped =
      round_up(reinterpret_cast<std::size_t>(begin), huge_page) - reinterpret_cast<std::size_t>(begin);
  if (skipped > 0) munmap(begin, skipped);
  if (skipped < huge_page) munmap(begin + skipped + size, huge_page - skipped);
  begin += skipped;
  madvise(begin, size, MADV_HUGEPAGE);
  return begin;
}

}  // namespace

bool Allocator::SmallestFirst::operator()(const Block* a, const Block* b) const {
  return a->size != b->size ? a->size < b->size : std::less<>()(a->begin, b->begin);
}

Allocator& Allocator::instance() {
  static auto* allocator = new Allocator;
  return *allocator;
}

Allocator::Allocator() = default;
Allocator::~Allocator() { release_unused(); }

std::byte* Allocator::address_of(const Block* block) { return block->begin; }

Allocator::Pool& Allocator::pool_for(std::size_t bytes) { return bytes <= small_limit ? small_ : large_; }

Allocator::Block* Allocator::new_block() {
  if (unused_.empty()) {
    Block* block = &blocks_.emplace_back();
    FreeBlocks one;
    one.insert(block);
    block->node = one.extract(one.begin());
    return block;
  }
  Block* block = unused_.back();
  unused_.pop_back();
  return block;
}

void Allocator::insert_free(Pool& pool, Block* block) {
  block->free = true;
  block->requested = 0;
  forbid_access(block->begin, block->size);
  pool.free.insert(std::move(block->node));
}

void Allocator::erase_free(Pool& pool, Block* block) {
  block->node = pool.free.extract(pool.free.find(block));
  block->free = false;
}

void Allocator::absorb_next(Block* block) {
  Block* next = block->after;
  block->size += next->size;
  block->after = next->after;
  if (block->after) block->after->before = block;
  unused_.push_back(next);
}

void Allocator::add_segment(Pool& pool, std::size_t bytes) {
  std::size_t size = round_up(std::max(bytes, pool.segment_size), segment_multiple);
  std::byte* begin = map_segment(size);
  if (!begin) {
    release_segments(small_);
    release_segments(large_);
    size = round_up(bytes, segment_multiple);
    begin = map_segment(size);
  }
  check(begin, "out of memory: {} bytes wanted beside {} in use. Use smaller batches, or a smaller model", bytes,
        statistics_.bytes_in_use);
  statistics_.system_calls += 1;
  statistics_.bytes_held += static_cast<std::int64_t>(size);
  Block* block = new_block();
  block->begin = begin;
  block->size = size;
  block->pool = &pool;
  block->before = block->after = nullptr;
  insert_free(pool, block);
}

Allocator::Block* Allocator::take(std::size_t bytes) {
  check(bytes < (std::size_t{1} << 47), "out of memory: a tensor of {} bytes is more than any machine has", bytes);
  std::size_t size = round_up(std::max<std::size_t>(bytes, 1), alignment) + red_zone;
  std::lock_guard lock(mutex_);
  Pool& pool = pool_for(size);
  Block wanted;
  wanted.size = size;
  auto found = pool.free.lower_bound(&wanted);
  if (found == pool.free.end()) {
    add_segment(pool, size);
    found = pool.free.lower_bound(&wanted);
  }
  Block* block = *found;
  erase_free(pool, block);
  if (block->size > size) {
    Block* rest = new_block();
    rest->begin = block->begin + size;
    rest->size = block->size - size;
    rest->pool = &pool;
    rest->before = block;
    rest->after = block->after;
    if (rest->after) rest->after->before = rest;
    block->after = rest;
    block->size = size;
    insert_free(pool, rest);
  }
  block->requested = bytes;
  allow_access(block->begin, bytes);
  statistics_.bytes_in_use += static_cast<std::int64_t>(block->size);
  statistics_.peak_in_use = std::max(statistics_.peak_in_use, statistics_.bytes_in_use);
  return block;
}

void Allocator::give_back(Block* block) {
  std::lock_guard lock(mutex_);
  Pool& pool = *block->pool;
  statistics_.bytes_in_use -= static_cast<std::int64_t>(block->size);
  if (block->after && block->after->free) {
    erase_free(pool, block->after);
    absorb_next(block);
  }
  if (block->before && block->before->free) {
    block = block->before;
    erase_free(pool, block);
    absorb_next(block);
  }
  insert_free(pool, block);
}

void Allocator::release_segments(Pool& pool) {
  for (auto it = pool.free.begin(); it != pool.free.end();) {
    Block* block = *it++;
    if (block->before || block->after) continue;
    erase_free(pool, block);
    allow_access(block->begin, block->size);
    munmap(block->begin, block->size);
    statistics_.bytes_held -= static_cast<std::int64_t>(block->size);
    unused_.push_back(block);
  }
}

AllocatorStatistics Allocator::statistics() {
  std::lock_guard lock(mutex_);
  return statistics_;
}

void Allocator::reset_peak() {
  std::lock_guard lock(mutex_);
  statistics_.peak_in_use = statistics_.bytes_in_use;
}

void Allocator::release_unused() {
  std::lock_guard lock(mutex_);
  release_segments(small_);
  release_segments(large_);
}

}  // namespace attune
