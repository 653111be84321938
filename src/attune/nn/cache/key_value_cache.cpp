#include "attune/nn/cache/key_value_cache.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "attune/base/error.h"
#include "attune/tensor/storage.h"

namespace attune {

KeyValueCache::KeyValueCache(const CacheShape& shape) : shape_(shape) {
  if (shape_.value_dim == 0) shape_.value_dim = shape_.head_dim;
  check(
      shape_.layers > 0 && shape_.kv_heads > 0 && shape_.head_dim > 0 && shape_.value_dim > 0 && shape_.page_tokens > 0,
      "key-value cache: {} layers of {} heads of {} and {} values in pages of {} tokens: expected all above 0",
      shape_.layers, shape_.kv_heads, shape_.head_dim, shape_.value_dim, shape_.page_tokens);
}

const KeyValueCache::Sequence& KeyValueCache::at(Handle handle) const {
  check(handle >= 0 && handle < static_cast<std::int64_t>(all_.size()) && all_[static_cast<std::size_t>(handle)].live,
        "key-value cache: there is no sequence {}", handle);
  return all_[static_cast<std::size_t>(handle)];
}

KeyValueCache::Handle KeyValueCache::add() {
  auto free = std::ranges::find_if(all_, [](const Sequence& s) { return !s.live; });
  if (free == all_.end()) free = all_.insert(all_.end(), Sequence());
  *free = {true, {}, std::vector<std::int64_t>(static_cast<std::size_t>(shape_.layers), 0)};
  ++live_;
  return free - all_.begin();
}

KeyValueCache::Handle KeyValueCache::fork(Handle parent) {
  at(parent);
  const Handle child = add();
  all_[static_cast<std::size_t>(child)] = all_[static_cast<std::size_t>(parent)];
  return child;
}

void KeyValueCache::drop(Handle handle) {
  at(handle);
  all_[static_cast<std::size_t>(handle)] = {};
  --live_;
}

std::int64_t KeyValueCache::length(Handle handle, std::int64_t layer) const {
  check(layer >= 0 && layer < shape_.layers, "key-value cache: there is no layer {} among {}", layer, shape_.layers);
  return at(handle).lengths[static_cast<std::size_t>(layer)];
}

/// The page's first value; it is made if the sequence ends before it, copied if it is shared.
float* KeyValueCache::own_page(Sequence& sequence, std::int64_t page) {
  const auto bytes = static_cast<std::size_t>(shape_.layers * (keys_of_layer() + values_of_layer())) * sizeof(float);
  if (page == static_cast<std::int64_t>(sequence.pages.size())) sequence.pages.push_back(allocate(bytes));
  Page& here = sequence.pages[static_cast<std::size_t>(page)];
  if (here.use_count() > 1) {
    Page copy = allocate(bytes);
    std::memcpy(copy->data, here->data, bytes);
    here = std::move(copy);
  }
  return reinterpret_cast<float*>(here->data);
}

void KeyValueCache::append(std::int64_t layer, std::span<const Handle> handles, const Offsets& offsets, const Tensor& k,
                           const Tensor& v) {
  const std::int64_t heads = shape_.kv_heads, tokens = offsets.total();
  check(static_cast<std::int64_t>(handles.size()) == offsets.count(),
        "key-value cache: rows of {} sequences for {} handles", offsets.count(), handles.size());
  check(std::set(handles.begin(), handles.end()).size() == handles.size(),
        "key-value cache: a sequence is given twice");
  check(k.shape() == Shape{tokens, heads, shape_.head_dim} && v.shape() == Shape{tokens, heads, shape_.value_dim} &&
            k.dtype() == DType::F32 && v.dtype() == DType::F32,
        "key-value cache: k {} {} and v {} {} are not {} tokens of {} heads of {} and {} f32 values",
        name_of(k.dtype()), k.shape(), name_of(v.dtype()), v.shape(), tokens, heads, shape_.head_dim, shape_.value_dim);
  check((k.dim(2) <= 1 || k.stride(2) == 1) && (v.dim(2) <= 1 || v.stride(2) == 1),
        "key-value cache: the values of one head of {} or {} are not adjacent", k.shape(), v.shape());
  for (Handle handle : handles) length(handle, layer);  // all are there, before anything is written

  const std::int64_t layer_begin = layer * (keys_of_layer() + values_of_layer());
  auto write = [&](const Tensor& rows, std::int64_t row, float* page, std::int64_t slot) {
    const std::int64_t width = rows.dim(2);
    for (std::int64_t h = 0; h < heads; ++h)
      std::memcpy(page + (h * shape_.page_tokens + slot) * width,
                  rows.data<float>() + row * rows.stride(0) + h * rows.stride(1),
                  static_cast<std::size_t>(width) * sizeof(float));
  };
  for (std::int64_t i = 0; i < offsets.count(); ++i) {
    Sequence& sequence = all_[static_cast<std::size_t>(handles[static_cast<std::size_t>(i)])];
    std::int64_t& length = sequence.lengths[static_cast<std::size_t>(layer)];
    for (std::int64_t row = offsets.begin(i); row < offsets.end(i); ++row, ++length) {
      float* page = own_page(sequence, length / shape_.page_tokens) + layer_begin;
      write(k, row, page, length % shape_.page_tokens);
      write(v, row, page + keys_of_layer(), length % shape_.page_tokens);
    }
  }
}

std::int64_t KeyValueCache::bytes() const {
  std::set<const Storage*> pages;
  for (const Sequence& sequence : all_)
    for (const Page& page : sequence.pages) pages.insert(page.get());
  std::int64_t total = 0;
  for (const Storage* page : pages) total += static_cast<std::int64_t>(page->size);
  return total;
}

const float* KeyValueCache::page_keys(Handle handle, std::int64_t page, std::int64_t layer) const {
  const Page& here = at(handle).pages[static_cast<std::size_t>(page)];
  return reinterpret_cast<const float*>(here->data) + layer * (keys_of_layer() + values_of_layer());
}

const float* KeyValueCache::page_values(Handle handle, std::int64_t page, std::int64_t layer) const {
  return page_keys(handle, page, layer) + keys_of_layer();
}

}  // namespace attune
