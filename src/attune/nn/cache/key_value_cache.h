#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attune/tensor/offsets.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// What a cache holds of each token.
struct CacheShape {
  std::int64_t layers = 0, kv_heads = 0, head_dim = 0;
  std::int64_t value_dim = 0;     // 0: head_dim
  std::int64_t page_tokens = 64;  // a page holds all layers' rows of so many tokens
};

/// The keys and values of sequences that are being decoded, f32, in pages (Kwon et al. 2023, "PagedAttention"). A fork
/// shares its parent's pages; a shared page is copied when one of its sequences writes to it. Attention gives the same
/// bits as over contiguous keys, whatever the pages' size and who shares them. Not for several threads at once.
class KeyValueCache {
 public:
  /// Names a sequence until it is dropped; numbers are used again.
  using Handle = std::int64_t;

  explicit KeyValueCache(const CacheShape& shape);  // throws Error where a size is not above 0

  /// A sequence without tokens.
  Handle add();
  /// A sequence with the same tokens so far.
  Handle fork(Handle parent);
  /// Forgets a sequence; pages that nobody shares are free again.
  void drop(Handle handle);

  /// Tokens that a layer holds of a sequence. Within one forward pass earlier layers are ahead of later ones.
  std::int64_t length(Handle handle, std::int64_t layer = 0) const;
  /// Adds rows to one layer: sequence handles[i] gets k and v of rows [offsets.begin(i), offsets.end(i)).
  /// k: [tokens, kv_heads, head_dim], v: [tokens, kv_heads, value_dim], f32. A handle occurs at most once.
  void append(std::int64_t layer, std::span<const Handle> handles, const Offsets& offsets, const Tensor& k,
              const Tensor& v);

  const CacheShape& shape() const { return shape_; }
  std::int64_t sequences() const { return live_; }
  /// Memory of all pages, shared ones counted once.
  std::int64_t bytes() const;

  /// The first key of a page of a sequence, [kv_heads, page_tokens, head_dim] of one layer, and its first value.
  const float* page_keys(Handle handle, std::int64_t page, std::int64_t layer) const;
  const float* page_values(Handle handle, std::int64_t page, std::int64_t layer) const;

 private:
  using Page = std::shared_ptr<Storage>;  // [layers, (keys: kv_heads, page_tokens, head_dim; values: ... value_dim)]
  struct Sequence {
    bool live = false;
    std::vector<Page> pages;
    std::vector<std::int64_t> lengths;  // [layers]
  };
  const Sequence& at(Handle handle) const;
  float* own_page(Sequence& sequence, std::int64_t page);
  std::int64_t keys_of_layer() const { return shape_.kv_heads * shape_.page_tokens * shape_.head_dim; }
  std::int64_t values_of_layer() const { return shape_.kv_heads * shape_.page_tokens * shape_.value_dim; }

  CacheShape shape_;
  std::vector<Sequence> all_;
  std::int64_t live_ = 0;
};

}  // namespace attune
