#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace attune::kernels {

/// This thread's memory for a kernel's packed panels: kept from call to call up to a few megabytes, so that small
/// pieces of work pay for no allocation. One lives in a thread at a time. Contents are undefined.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch() {
    Kept& kept = kept_of_this_thread();
    // Next time one chunk holds all.
    if (kept.chunks.size() > 1 || kept.size_of_first() > most_kept) kept.clear(used_ <= most_kept ? used_ : 0);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// The next `count` values, beginning on a cache line.
  template <class T = float>
  T* take(std::int64_t count) {
    const std::size_t bytes = rounded(static_cast<std::size_t>(count) * sizeof(T));
    Kept& kept = kept_of_this_thread();
    if (chunk_ == 0 || in_chunk_ + bytes > kept.chunks[chunk_ - 1].size) {
      if (chunk_ == kept.chunks.size()) kept.add(bytes);
      if (kept.chunks[chunk_].size < bytes) kept.clear_from(chunk_), kept.add(bytes);
      ++chunk_, in_chunk_ = 0;
    }
    std::byte* here = kept.chunks[chunk_ - 1].data + in_chunk_;
    in_chunk_ += bytes, used_ += bytes;
    return reinterpret_cast<T*>(here);
  }

 private:
  static constexpr std::size_t line = 64, smallest_chunk = std::size_t{1} << 18, most_kept = std::size_t{8} << 20;
  static std::size_t rounded(std::size_t bytes) { return (bytes + line - 1) / line * line; }

  struct Chunk {
    std::byte* data;
    std::size_t size;
  };
  struct Kept {
    std::vector<Chunk> chunks;
    ~Kept() { clear_from(0); }
    std::size_t size_of_first() const { return chunks.empty() ? 0 : chunks[0].size; }
    void add(std::size_t bytes) {
      bytes = bytes < smallest_chunk ? smallest_chunk : bytes;
      auto* data = static_cast<std::byte*>(std::aligned_alloc(line, bytes));
      if (!data) throw std::bad_alloc();
      chunks.push_back({data, bytes});
    }
    void clear_from(std::size_t first) {
      for (; chunks.size() > first; chunks.pop_back()) std::free(chunks.back().data);
    }
    void clear(std::size_t then_keep) {
      clear_from(0);
      if (then_keep > 0) add(then_keep);
    }
  };
  static Kept& kept_of_this_thread() {
    static thread_local Kept kept;
    return kept;
  }

  std::size_t chunk_ = 0;  // chunks in use
  std::size_t in_chunk_ = 0, used_ = 0;
};

}  // namespace attune::kernels
