#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attune/base/file.h"
#include "attune/kernels/matrix.h"
#include "attune/nn/memory/neighbour_graph.h"
#include "attune/tensor/tensor.h"

namespace attune {

struct KeyMemorySizes {
  std::int64_t kv_heads = 1, head_dim = 64;
  std::int64_t value_dim = 0;  // 0: head_dim
};

struct KeyMemoryOptions {
  /// Entries; beyond them a graph a head is searched, which may miss some. Comparing every key takes 2 ns a key where
  /// queries come together, so the graph's 0.5 ms a query are worth it late.
  std::int64_t exact_up_to = 131072;
  GraphSizes graph = {};
};

/// Keys and values of one attention layer, kept beyond the texts that they came from, for later texts to look up (Wu et
/// al. 2022, "Memorizing transformers"). It is edited by its entries: what is removed or replaced is gone from the next
/// look-up on, and from the next save, with no training. The same edits in the same order give the same answers. Not
/// for edits and other calls at the same time; look-ups may run together.
class KeyMemory {
 public:
  using Id = std::int64_t;  // of an entry; counts up and is not used again

  explicit KeyMemory(const KeyMemorySizes& sizes, const KeyMemoryOptions& options = {});
  KeyMemory(KeyMemory&&) = default;  // no copies: they would share the tensors that edits write to
  KeyMemory& operator=(KeyMemory&&) = default;

  /// k: [n, kv_heads, head_dim], v: [n, kv_heads, value_dim], f32. `document` is any number that says where they come
  /// from. Returns the first id; the others follow. Throws Error where shapes do not fit or a value is not finite.
  Id add(const Tensor& k, const Tensor& v, std::int64_t document = 0);
  /// Another key and value for an entry: k [1, kv_heads, head_dim], v [1, kv_heads, value_dim].
  void replace(Id id, const Tensor& k, const Tensor& v);
  /// Throws Error, having removed none, where one is not there.
  void remove(std::span<const Id> ids);
  /// All entries of a document; returns how many there were.
  std::int64_t remove_document(std::int64_t document);

  const KeyMemorySizes& sizes() const { return sizes_; }
  const KeyMemoryOptions& options() const { return options_; }
  std::int64_t size() const { return slots() - dead_; }
  bool contains(Id id) const { return find(id) >= 0; }
  std::vector<Id> ids() const;            // in their order
  std::int64_t document_of(Id id) const;  // throws Error where it is not there
  bool is_exact() const { return graphs_.empty(); }

  /// Where entries lie: rows of keys() and values(), [slots, kv_heads, width]; some may be empty.
  std::int64_t slots() const { return static_cast<std::int64_t>(ids_.size()); }
  Tensor keys() const { return keys_.rows(0, slots()); }
  Tensor values() const { return values_.rows(0, slots()); }
  Id id_at(std::int64_t slot) const { return ids_[static_cast<std::size_t>(slot)]; }
  /// The slots of the `count` keys of one head with the largest inner products with each query, best first; -1 where
  /// there are fewer. queries: [n, head_dim]; best: [n, count].
  void nearest(const kernels::Matrix<float>& queries, std::int64_t kv_head, std::int64_t count,
               std::int64_t* best) const;

  /// What its file says of where it comes from: the model that made it, any text.
  std::string origin;
  /// What people call the documents; remove_document() forgets a name, too.
  std::map<std::int64_t, std::string> names;

  /// Writes one safetensors file, whole or not at all. It holds what is in the memory now and nothing of what was
  /// removed. The memory that open() then makes gives the same answers to the same look-ups, bit for bit.
  void save(const Path& path);
  /// Throws Error on a file that is not such a memory, whatever is wrong with it; its content must have the SHA-256
  /// that save() wrote beside it.
  static KeyMemory open(const Path& path);

 private:
  std::int64_t find(Id id) const;  // its slot, or -1
  void check_rows(const Tensor& k, const Tensor& v) const;
  void reserve(std::int64_t slots);
  void write_slot(std::int64_t slot, const Tensor& k, const Tensor& v);
  /// Drops empty slots, and makes the graphs anew, or none where there are few entries.
  void rebuild();
  void build_graphs();
  /// Puts a slot's keys into the graphs, if there are any.
  void link(std::int64_t slot);
  void unlink(std::int64_t slot);
  const float* key_at(std::int64_t slot, std::int64_t head) const;

  KeyMemorySizes sizes_;
  KeyMemoryOptions options_;
  Tensor keys_, values_;                 // [room, kv_heads, width]
  std::vector<Id> ids_;                  // [slots], rising
  std::vector<std::int64_t> documents_;  // [slots]
  std::vector<bool> empty_;              // [slots]
  std::int64_t dead_ = 0;                // slots that are empty
  Id next_ = 0;
  std::vector<NeighbourGraph> graphs_;   // [kv_heads]; none while the search is exact
  std::vector<std::int64_t> slot_of_;    // [numbers in the graphs]
  std::vector<std::int64_t> number_of_;  // [slots]
};

}  // namespace attune
