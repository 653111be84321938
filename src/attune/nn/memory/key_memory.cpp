#include "attune/nn/memory/key_memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/nearest.h"

namespace attune {

namespace {

bool all_finite(const Tensor& x) {
  return std::ranges::all_of(x.values<float>(), [](float v) { return std::isfinite(v); });
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

KeyMemory::KeyMemory(const KeyMemorySizes& sizes, const KeyMemoryOptions& options) : sizes_(sizes), options_(options) {
  if (sizes_.value_dim == 0) sizes_.value_dim = sizes_.head_dim;
  check(sizes_.kv_heads >= 1 && sizes_.head_dim >= 1 && sizes_.value_dim >= 1 && options_.exact_up_to >= 0,
        "a memory of keys: {} heads of {} and {} values, exact up to {}: expected sizes above 0", sizes_.kv_heads,
        sizes_.head_dim, sizes_.value_dim, options_.exact_up_to);
  NeighbourGraph(sizes_.head_dim, options_.graph);  // says now what is wrong with its sizes
  keys_ = Tensor::empty({0, sizes_.kv_heads, sizes_.head_dim});
  values_ = Tensor::empty({0, sizes_.kv_heads, sizes_.value_dim});
}

void KeyMemory::check_rows(const Tensor& k, const Tensor& v) const {
  check(k.dtype() == DType::F32 && v.dtype() == DType::F32 && k.rank() == 3 && v.rank() == 3 && k.dim(0) == v.dim(0) &&
            k.dim(1) == sizes_.kv_heads && v.dim(1) == sizes_.kv_heads && k.dim(2) == sizes_.head_dim &&
            v.dim(2) == sizes_.value_dim,
        "a memory of {} heads with keys of {} and values of {} does not take keys {} {} and values {} {}",
        sizes_.kv_heads, sizes_.head_dim, sizes_.value_dim, name_of(k.dtype()), k.shape(), name_of(v.dtype()),
        v.shape());
  check(all_finite(k.contiguous()) && all_finite(v.contiguous()),
        "a memory takes finite keys and values alone: these hold an infinity or what is no number");
}

void KeyMemory::reserve(std::int64_t slots) {
  if (slots <= keys_.dim(0)) return;
  const std::int64_t room = std::max<std::int64_t>({64, slots, 2 * keys_.dim(0)});
  Tensor keys = Tensor::zeros({room, sizes_.kv_heads, sizes_.head_dim});
  Tensor values = Tensor::zeros({room, sizes_.kv_heads, sizes_.value_dim});
  copy_into(this->keys(), keys.rows(0, this->slots()));
  copy_into(this->values(), values.rows(0, this->slots()));
  keys_ = keys, values_ = values;
}

void KeyMemory::write_slot(std::int64_t slot, const Tensor& k, const Tensor& v) {
  copy_into(k, keys_.rows(slot, slot + 1));
  copy_into(v, values_.rows(slot, slot + 1));
}

KeyMemory::Id KeyMemory::add(const Tensor& k, const Tensor& v, std::int64_t document) {
  check_rows(k, v);
  const Id first = next_;
  reserve(slots() + k.dim(0));
  for (std::int64_t i = 0; i < k.dim(0); ++i) {
    const std::int64_t slot = slots();
    ids_.push_back(next_++);
    documents_.push_back(document);
    empty_.push_back(false);
    write_slot(slot, k.rows(i, i + 1), v.rows(i, i + 1));
  }
  if (graphs_.empty()) {
    if (size() > options_.exact_up_to) build_graphs();
  } else {
    for (std::int64_t slot = slots() - k.dim(0); slot < slots(); ++slot) link(slot);
  }
  return first;
}

void KeyMemory::replace(Id id, const Tensor& k, const Tensor& v) {
  check_rows(k, v);
  check(k.dim(0) == 1, "one entry is replaced by one key and value, not by {}", k.dim(0));
  const std::int64_t slot = find(id);
  check(slot >= 0, "the memory has no entry {}", id);
  unlink(slot);
  write_slot(slot, k, v);
  link(slot);
  if (!graphs_.empty() && graphs_[0].removed() > size()) rebuild();
}

void KeyMemory::remove(std::span<const Id> ids) {
  std::vector<std::int64_t> gone;
  for (Id id : ids) {
    gone.push_back(find(id));
    check(gone.back() >= 0, "the memory has no entry {}", id);
  }
  std::sort(gone.begin(), gone.end());
  gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
  const Tensor no_key = Tensor::zeros({1, sizes_.kv_heads, sizes_.head_dim});
  const Tensor no_value = Tensor::zeros({1, sizes_.kv_heads, sizes_.value_dim});
  for (std::int64_t slot : gone) {
    unlink(slot);
    write_slot(slot, no_key, no_value);
    empty_[at(slot)] = true, ++dead_;
  }
  // The exact search looks at every slot, so none may be empty.
  if (graphs_.empty() || size() <= options_.exact_up_to || graphs_[0].removed() > size()) rebuild();
}

std::int64_t KeyMemory::remove_document(std::int64_t document) {
  std::vector<Id> gone;
  for (std::int64_t slot = 0; slot < slots(); ++slot)
    if (!empty_[at(slot)] && documents_[at(slot)] == document) gone.push_back(ids_[at(slot)]);
  remove(gone);
  names.erase(document);
  return static_cast<std::int64_t>(gone.size());
}

std::int64_t KeyMemory::find(Id id) const {
  const auto found = std::ranges::lower_bound(ids_, id);
  if (found == ids_.end() || *found != id) return -1;
  const std::int64_t slot = found - ids_.begin();
  return empty_[at(slot)] ? -1 : slot;
}

std::vector<KeyMemory::Id> KeyMemory::ids() const {
  std::vector<Id> all;
  for (std::int64_t slot = 0; slot < slots(); ++slot)
    if (!empty_[at(slot)]) all.push_back(ids_[at(slot)]);
  return all;
}

std::int64_t KeyMemory::document_of(Id id) const {
  const std::int64_t slot = find(id);
  check(slot >= 0, "the memory has no entry {}", id);
  return documents_[at(slot)];
}

const float* KeyMemory::key_at(std::int64_t slot, std::int64_t head) const {
  return keys_.data<float>() + (slot * sizes_.kv_heads + head) * sizes_.head_dim;
}

void KeyMemory::link(std::int64_t slot) {
  if (graphs_.empty()) return;
  for (std::int64_t head = 0; head < sizes_.kv_heads; ++head) graphs_[at(head)].add(key_at(slot, head));
  number_of_.resize(at(slots()), -1);
  number_of_[at(slot)] = static_cast<std::int64_t>(slot_of_.size());
  slot_of_.push_back(slot);
}

void KeyMemory::unlink(std::int64_t slot) {
  for (NeighbourGraph& graph : graphs_) graph.remove(number_of_[at(slot)]);
}

void KeyMemory::build_graphs() {
  graphs_.clear();
  for (std::int64_t head = 0; head < sizes_.kv_heads; ++head) graphs_.emplace_back(sizes_.head_dim, options_.graph);
  parallel(sizes_.kv_heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t head = begin; head < end; ++head)
      for (std::int64_t slot = 0; slot < slots(); ++slot) graphs_[at(head)].add(key_at(slot, head));
  });
  slot_of_.resize(at(slots()));
  for (std::int64_t slot = 0; slot < slots(); ++slot) slot_of_[at(slot)] = slot;
  number_of_ = slot_of_;
}

void KeyMemory::rebuild() {
  std::int64_t kept = 0;
  for (std::int64_t slot = 0; slot < slots(); ++slot) {
    if (empty_[at(slot)]) continue;
    if (kept != slot) write_slot(kept, keys_.rows(slot, slot + 1), values_.rows(slot, slot + 1));
    ids_[at(kept)] = ids_[at(slot)], documents_[at(kept)] = documents_[at(slot)];
    ++kept;
  }
  const auto wipe = [&](const Tensor& x) {  // what stood at the end
    float* values = x.mutable_data<float>();
    std::fill(values + kept * x.stride(0), values + slots() * x.stride(0), 0.0f);
  };
  wipe(keys_), wipe(values_);
  ids_.resize(at(kept)), documents_.resize(at(kept));
  empty_.assign(at(kept), false), dead_ = 0;
  graphs_.clear(), slot_of_.clear(), number_of_.clear();
  if (kept > options_.exact_up_to) build_graphs();
}

void KeyMemory::nearest(const kernels::Matrix<float>& queries, std::int64_t kv_head, std::int64_t count,
                        std::int64_t* best) const {
  check(queries.columns == sizes_.head_dim && 0 <= kv_head && kv_head < sizes_.kv_heads,
        "queries of {} values for head {}: the memory has {} heads of {}", queries.columns, kv_head, sizes_.kv_heads,
        sizes_.head_dim);
  if (graphs_.empty()) {
    const kernels::Matrix<float> keys(key_at(0, kv_head), slots(), sizes_.head_dim, sizes_.kv_heads * sizes_.head_dim,
                                      1);
    kernels::nearest(queries, keys, std::vector<std::int64_t>(at(queries.rows), slots()), count, best);
    return;
  }
  parallel(queries.rows, 4, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> query(at(sizes_.head_dim));
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t c = 0; c < sizes_.head_dim; ++c) query[at(c)] = queries(i, c);
      const std::span<std::int64_t> row(best + i * count, at(count));
      const std::int64_t found = graphs_[at(kv_head)].nearest(query.data(), row);
      for (std::int64_t n = 0; n < count; ++n) row[at(n)] = n < found ? slot_of_[at(row[at(n)])] : -1;
    }
  });
}

}  // namespace attune
