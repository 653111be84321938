#include "attune/tensor/storage.h"

#include "attune/tensor/allocator.h"

namespace attune {

Storage::~Storage() {
  if (block) Allocator::instance().give_back(static_cast<Allocator::Block*>(block));
}

std::shared_ptr<Storage> allocate(std::size_t bytes) {
  auto storage = std::make_shared<Storage>();
  Allocator::Block* block = Allocator::instance().take(bytes);
  storage->block = block;
  storage->data = Allocator::address_of(block);
  storage->size = bytes;
  return storage;
}

std::shared_ptr<Storage> storage_of(const MappedFile& file) {
  auto storage = std::make_shared<Storage>();
  // Nothing writes through this pointer: `writable` is looked at by every mutable access.
  storage->data = const_cast<std::byte*>(file.bytes().data());
  storage->size = file.bytes().size();
  storage->writable = false;
  storage->keeper = std::make_shared<MappedFile>(file);
  return storage;
}

AllocatorStatistics allocator_statistics() { return Allocator::instance().statistics(); }
void reset_peak_in_use() { Allocator::instance().reset_peak(); }
void release_unused_memory() { Allocator::instance().release_unused(); }

}  // namespace attune
