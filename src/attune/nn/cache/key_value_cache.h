#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "attune/kernels/attention_mask.h"
#include "attune/kernels/cache_pages.h"
#include "attune/tensor/offsets.h"
#include "attune/tensor/tensor.h"

namespace attune {

std::string_view name_of(CacheFormat format);  // "f32", "f16", "int8"
/// By its name. Throws Error, naming those there are.
CacheFormat cache_format(std::string_view name);

/// What a cache holds of each token, and how.
struct CacheShape {
  std::int64_t layers = 0, kv_heads = 0, head_dim = 0;
  std::int64_t value_dim = 0;  // 0: head_dim
  /// Tokens of a page, which holds one layer's rows. As long as the longest sequence: the cache is contiguous.
  /// Attention reads multiples of 64 where they lie; with fewer, forks copy less.
  std::int64_t page_tokens = 64;
  CacheFormat format = CacheFormat::f32;
};

/// The keys and values of sequences that are being decoded, in pages (Kwon et al. 2023, "PagedAttention"). A fork
/// shares its parent's pages; a shared page is copied when one of its sequences writes to it. In f32 attention gives
/// the same bits as over contiguous keys, whatever the pages' size and who shares them; in the other formats those of
/// the rounded keys and values, as far. Not for several threads at once.
class KeyValueCache {
 public:
  /// Names a sequence until it is dropped; numbers are used again.
  using Handle = std::int64_t;

  explicit KeyValueCache(const CacheShape& shape);  // throws Error where a size is not above 0

  /// A sequence without tokens.
  Handle add();
  /// A sequence with the same tokens so far.
  Handle fork(Handle parent);
  /// A sequence with the parent's first tokens. Throws Error where a layer does not have as many, or has forgotten
  /// some.
  Handle fork(Handle parent, std::int64_t tokens);
  /// Ends a sequence; pages that nobody shares are free again.
  void drop(Handle handle);

  /// Tokens that a layer was given of a sequence. Within one forward pass earlier layers are ahead of later ones.
  std::int64_t length(Handle handle, std::int64_t layer = 0) const;
  /// Adds rows to one layer: sequence handles[i] gets k and v of rows [offsets.begin(i), offsets.end(i)).
  /// k: [tokens, kv_heads, head_dim], v: [tokens, kv_heads, value_dim], f32. A handle occurs at most once.
  void append(std::int64_t layer, std::span<const Handle> handles, const Offsets& offsets, const Tensor& k,
              const Tensor& v);
  /// Gives back a layer's pages that `mask` hides from all queries to come: with a window its memory does not grow with
  /// the sequence (Mistral's "rolling buffer": Jiang et al. 2023, section 2). Keys keep their positions, so that no bit
  /// of a result changes.
  void forget(std::int64_t layer, std::span<const Handle> handles, const AttentionMask& mask);
  bool has_forgotten(Handle handle) const;

  const CacheShape& shape() const { return shape_; }
  std::int64_t sequences() const { return live_; }
  /// Memory of all pages, shared ones counted once.
  std::int64_t bytes() const;

  const kernels::PageLayout& layout() const { return layout_; }
  /// A page of one layer of a sequence; null where it was forgotten.
  const std::byte* page(Handle handle, std::int64_t layer, std::int64_t page) const;

 private:
  using Page = std::shared_ptr<Storage>;
  struct Layer {
    std::vector<Page> pages;  // null: forgotten
    std::int64_t length = 0;
    std::int64_t looked_at = 0;  // full pages when forget() last looked: once a page is enough
    bool forgot = false;
  };
  struct Sequence {
    bool live = false;
    std::vector<Layer> layers;
  };
  const Sequence& at(Handle handle) const;
  Layer& layer_of(Handle handle, std::int64_t layer);
  std::byte* own_page(Layer& layer, std::int64_t page);

  CacheShape shape_;
  kernels::PageLayout layout_;
  std::vector<Sequence> all_;
  std::int64_t live_ = 0;
};

}  // namespace attune
