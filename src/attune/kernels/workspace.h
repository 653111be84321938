#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "attune/tensor/storage.h"

namespace attune::kernels {

/// Memory for a kernel's partial results, from the caching allocator; contents undefined.
template <class T>
class Workspace {
 public:
  explicit Workspace(std::int64_t count)
      : storage_(allocate(static_cast<std::size_t>(count) * sizeof(T))), count_(static_cast<std::size_t>(count)) {}

  T* data() const { return reinterpret_cast<T*>(storage_->data); }
  std::span<T> span() const { return {data(), count_}; }

 private:
  std::shared_ptr<Storage> storage_;
  std::size_t count_;
};

}  // namespace attune::kernels
