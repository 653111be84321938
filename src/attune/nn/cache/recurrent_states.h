#pragma once

#include <functional>
#include <vector>

#include "attune/nn/cache/key_value_cache.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// What recurrent attention families keep, instead of keys and values, of sequences that are being decoded: one tensor
/// a layer, of a size that does not grow with the sequence. A fork shares its parent's until one of them goes on.
class RecurrentStates {
 public:
  using Handle = KeyValueCache::Handle;

  /// A sequence without tokens, under a cache's handle for it.
  void begin(Handle handle);
  /// `child` is a sequence with the tokens of `parent`.
  void fork(Handle parent, Handle child);
  void drop(Handle handle);

  /// Tokens that the sequence has; advanced once all layers have gone on.
  std::int64_t length(Handle handle) const { return all_[static_cast<std::size_t>(handle)].tokens; }
  void advance(Handle handle, std::int64_t tokens) { at(handle).tokens += tokens; }

  /// The state of a sequence after its tokens so far, to be written: shared with no other sequence. `first` makes that
  /// of a sequence without tokens.
  Tensor take(std::int64_t layer, Handle handle, const std::function<Tensor()>& first);
  std::int64_t bytes() const;  // of all states, shared ones counted once

 private:
  struct Sequence {
    std::vector<Tensor> layers = {};  // not defined: no tokens yet
    std::int64_t tokens = 0;
  };
  Sequence& at(Handle handle);

  std::vector<Sequence> all_;  // by handle
};

}  // namespace attune
