#include "attune/nn/cache/key_value_cache.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/cache_pages.h"
#include "attune/tensor/storage.h"

namespace attune {

namespace {

kernels::HeadRows<const float> rows_of(const Tensor& x, std::int64_t first) {
  return {x.data<float>() + first * x.stride(0), x.dim(1), x.dim(2), x.stride(0), x.stride(1)};
}

}  // namespace

std::string_view name_of(CacheFormat format) {
  return format == CacheFormat::f32 ? "f32" : format == CacheFormat::f16 ? "f16" : "int8";
}

CacheFormat cache_format(std::string_view name) {
  for (CacheFormat format : {CacheFormat::f32, CacheFormat::f16, CacheFormat::int8})
    if (name == name_of(format)) return format;
  fail("there is no cache format \"{}\": expected one of f32, f16, int8", name);
}

KeyValueCache::KeyValueCache(const CacheShape& shape) : shape_(shape) {
  if (shape_.value_dim == 0) shape_.value_dim = shape_.head_dim;
  check(
      shape_.layers > 0 && shape_.kv_heads > 0 && shape_.head_dim > 0 && shape_.value_dim > 0 && shape_.page_tokens > 0,
      "key-value cache: {} layers of {} heads of {} and {} values in pages of {} tokens: expected all above 0",
      shape_.layers, shape_.kv_heads, shape_.head_dim, shape_.value_dim, shape_.page_tokens);
  layout_ = {.format = shape_.format,
             .heads = shape_.kv_heads,
             .key_width = shape_.head_dim,
             .value_width = shape_.value_dim,
             .tokens = shape_.page_tokens};
}

const KeyValueCache::Sequence& KeyValueCache::at(Handle handle) const {
  check(handle >= 0 && handle < static_cast<std::int64_t>(all_.size()) && all_[static_cast<std::size_t>(handle)].live,
        "key-value cache: there is no sequence {}", handle);
  return all_[static_cast<std::size_t>(handle)];
}

KeyValueCache::Layer& KeyValueCache::layer_of(Handle handle, std::int64_t layer) {
  length(handle, layer);  // both are there
  return all_[static_cast<std::size_t>(handle)].layers[static_cast<std::size_t>(layer)];
}

KeyValueCache::Handle KeyValueCache::add() {
  auto free = std::ranges::find_if(all_, [](const Sequence& s) { return !s.live; });
  if (free == all_.end()) free = all_.insert(all_.end(), Sequence());
  *free = {true, std::vector<Layer>(static_cast<std::size_t>(shape_.layers))};
  ++live_;
  return free - all_.begin();
}

KeyValueCache::Handle KeyValueCache::fork(Handle parent) {
  at(parent);
  const Handle child = add();
  all_[static_cast<std::size_t>(child)] = all_[static_cast<std::size_t>(parent)];
  return child;
}

KeyValueCache::Handle KeyValueCache::fork(Handle parent, std::int64_t tokens) {
  check(!has_forgotten(parent), "key-value cache: sequence {} has forgotten tokens: its begin cannot be shared",
        parent);
  for (const Layer& layer : at(parent).layers)
    check(tokens >= 0 && tokens <= layer.length, "key-value cache: {} tokens of sequence {}, which has {}", tokens,
          parent, layer.length);
  const Handle child = fork(parent);
  for (Layer& layer : all_[static_cast<std::size_t>(child)].layers) {
    layer.length = tokens;
    layer.pages.resize(static_cast<std::size_t>((tokens + shape_.page_tokens - 1) / shape_.page_tokens));
  }
  return child;
}

void KeyValueCache::drop(Handle handle) {
  at(handle);
  all_[static_cast<std::size_t>(handle)] = {};
  --live_;
}

std::int64_t KeyValueCache::length(Handle handle, std::int64_t layer) const {
  check(layer >= 0 && layer < shape_.layers, "key-value cache: there is no layer {} among {}", layer, shape_.layers);
  return at(handle).layers[static_cast<std::size_t>(layer)].length;
}

/// The page's begin; it is made if the sequence ends before it, copied if it is shared.
std::byte* KeyValueCache::own_page(Layer& layer, std::int64_t page) {
  const auto bytes = static_cast<std::size_t>(layout_.bytes());
  if (page == static_cast<std::int64_t>(layer.pages.size())) {
    layer.pages.push_back(allocate(bytes));
    std::memset(layer.pages.back()->data, 0, bytes);  // blocks are read as far as they reach
  }
  Page& here = layer.pages[static_cast<std::size_t>(page)];
  if (here.use_count() > 1) {
    Page copy = allocate(bytes);
    std::memcpy(copy->data, here->data, bytes);
    here = std::move(copy);
  }
  return here->data;
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

  std::vector<kernels::PageRows> pieces;
  for (std::int64_t i = 0; i < offsets.count(); ++i) {
    Layer& to = layer_of(handles[static_cast<std::size_t>(i)], layer);
    for (std::int64_t row = offsets.begin(i); row < offsets.end(i);) {
      const std::int64_t slot = to.length % shape_.page_tokens;
      const std::int64_t count = std::min(offsets.end(i) - row, shape_.page_tokens - slot);
      pieces.push_back({rows_of(k, row), rows_of(v, row), own_page(to, to.length / shape_.page_tokens), slot, count});
      row += count, to.length += count;
    }
  }
  constexpr std::int64_t worth_a_thread = 1 << 15;  // numbers
  const std::int64_t work = tokens * (shape_.head_dim + shape_.value_dim);
  const std::int64_t count = static_cast<std::int64_t>(pieces.size()) * heads;
  parallel(count, 1 + worth_a_thread * count / (1 + work * heads), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      kernels::write_page_rows(layout_, pieces[static_cast<std::size_t>(i / heads)], i % heads);
  });
}

void KeyValueCache::forget(std::int64_t layer, std::span<const Handle> handles, const AttentionMask& mask) {
  for (std::size_t i = 0; i < handles.size(); ++i) {
    Layer& of = layer_of(handles[i], layer);
    const std::int64_t tokens = shape_.page_tokens, whole = of.length / tokens;
    if (whole == of.looked_at) continue;
    of.looked_at = whole;
    for (std::int64_t page = 0; page < whole; ++page) {
      if (!mask.hides_for_good(static_cast<std::int64_t>(i), of.length, {page * tokens, (page + 1) * tokens})) continue;
      of.pages[static_cast<std::size_t>(page)] = nullptr;
      of.forgot = true;
    }
  }
}

bool KeyValueCache::has_forgotten(Handle handle) const {
  return std::ranges::any_of(at(handle).layers, [](const Layer& layer) { return layer.forgot; });
}

std::int64_t KeyValueCache::bytes() const {
  std::set<const Storage*> pages;
  for (const Sequence& sequence : all_)
    for (const Layer& layer : sequence.layers)
      for (const Page& page : layer.pages)
        if (page) pages.insert(page.get());
  std::int64_t total = 0;
  for (const Storage* page : pages) total += static_cast<std::int64_t>(page->size);
  return total;
}

const std::byte* KeyValueCache::page(Handle handle, std::int64_t layer, std::int64_t page) const {
  const Page& here = at(handle).layers[static_cast<std::size_t>(layer)].pages[static_cast<std::size_t>(page)];
  return here ? here->data : nullptr;
}

}  // namespace attune
