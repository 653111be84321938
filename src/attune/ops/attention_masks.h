#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "attune/kernels/attention_mask.h"

namespace attune {

// Masks by name. A query stands at its position among the keys of its sequence; "before" and "after" are of positions.
// Combined: `causal() & window(256, 0) | first_keys(4)`. Padding needs none: nothing is padded. Values by position or
// by sequence must reach to the last one of a call, else the call throws Error.

/// Every query sees every key of its sequence.
AttentionMask bidirectional();
/// A query sees its own position and those before it.
AttentionMask causal();
/// A query sees `left` keys before it, its own and `right` after it (Beltagy et al. 2020, "Longformer", section 3.1).
AttentionMask window(std::int64_t left, std::int64_t right);
/// As window(), but of the keys at multiples of `dilation` from the query alone; left and right count those keys.
AttentionMask dilated(std::int64_t left, std::int64_t right, std::int64_t dilation);
/// Of its own and earlier keys a query sees the last `stride` (its own among them), and those whose distance is a
/// multiple of `stride` (Child et al. 2019, "Sparse Transformers", section 4.3, "strided"). Causal.
AttentionMask strided(std::int64_t stride);
/// The first keys of each sequence are seen by all its queries: one count for all sequences ("attention sinks": Xiao et
/// al. 2023).
AttentionMask first_keys(std::int64_t count);
/// A prefix that all see, causal after it (Raffel et al. 2020, figure 4, "prefix LM"): lengths[s] of sequence s.
AttentionMask prefix(std::vector<std::int64_t> lengths);
/// Tokens see those of their own document: document[t] of position t, the same for all sequences of the call, or one
/// vector a sequence. For documents packed into one sequence.
AttentionMask documents(std::vector<std::vector<std::int64_t>> document_of);
/// Global tokens see all and are seen by all (Longformer, section 3.1): the first `count` positions.
AttentionMask global_tokens(std::int64_t count);
/// Longformer's pattern: window(one_sided, one_sided) | global_tokens(globals).
AttentionMask longformer(std::int64_t one_sided, std::int64_t globals);

/// BigBird's blocks (Zaheer et al. 2020, section 2 and appendix D): a query block sees `window_blocks` around its own
/// (odd), the first and last `global_blocks`, and `random_blocks` others drawn by `seed`; global blocks see all.
struct BigBirdBlocks {
  std::int64_t block = 64, window_blocks = 3, global_blocks = 1, random_blocks = 3;
  std::uint64_t seed = 1;
  /// A decoder's: global are the first blocks alone, random ones are drawn among the earlier, no block sees a later
  /// one, and what a block sees does not depend on how long the sequence will be. To be combined with causal().
  bool causal = false;
};
AttentionMask bigbird(const BigBirdBlocks& blocks);

/// A token sees itself and its ancestors: parents[t] < t, or -1 for a root. For trees of drafts in speculative decoding
/// (Miao et al. 2023, "SpecInfer", section 4).
AttentionMask tree(std::vector<std::int64_t> parents);
/// Blocks of modalities: the query of kind a sees keys of kind b where table[a][b]. kind_of[s][t] is the kind of
/// position t of sequence s; one vector alone holds for all sequences.
AttentionMask cross_modal(std::vector<std::vector<std::int64_t>> kind_of, std::vector<std::vector<bool>> table);

/// Any predicate of (query position, key, sequence). Compiled at the first call for a sequence's sizes, to a map of
/// blocks that hold nothing, everything or the bits of each query, and kept with the value: (queries x keys) / 8 bytes
/// at most, much less where most blocks are empty or full. The predicate must be a pure function.
AttentionMask where(std::function<bool(std::int64_t query, std::int64_t key, std::int64_t sequence)> predicate);

/// What both let through; what either lets through.
AttentionMask operator&(const AttentionMask& a, const AttentionMask& b);
AttentionMask operator|(const AttentionMask& a, const AttentionMask& b);

}  // namespace attune
