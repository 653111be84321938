#include "attune/checkpoint/gguf_weights.h"

#include <algorithm>
#include <array>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/ops/quantised.h"

namespace attune {

namespace {

/// More experts, or heads with a norm of their own, than any model has: a wrong or hostile file.
constexpr std::int64_t most_stacked = 4096;

/// They belong to the positions' config, which bundle/gguf_config.h makes of them.
constexpr std::array<std::string_view, 4> of_the_config = {"rope_freqs", "rope_factors_long", "rope_factors_short",
                                                           "blk.{}.attn_rot_embd"};

bool is_of_the_config(const std::string& name) {
  return std::ranges::any_of(of_the_config,
                             [&](std::string_view pattern) { return match_name(pattern, name).has_value(); });
}

std::vector<std::int64_t> inner_sizes(const Shape& shape) {
  return std::vector<std::int64_t>(shape.sizes().begin() + 1, shape.sizes().end());
}

/// Index i of the first dimension, without that dimension.
template <class T>
T part(const T& whole, std::int64_t i) {
  const std::vector<std::int64_t> sizes = inner_sizes(whole.shape());
  return whole.rows(i, i + 1).as_shape(Shape(std::span<const std::int64_t>(sizes)));
}

}  // namespace

std::string architecture_of(const GgufMetadata& metadata) {
  std::optional<std::string> name = metadata.text("general.architecture");
  check(name.has_value(), "its metadata have no \"general.architecture\": it holds no model");
  return *name;
}

GgufHeads heads_of(const GgufMetadata& metadata) {
  const std::string name = architecture_of(metadata);
  const std::int64_t query = metadata.integer(name + ".attention.head_count").value_or(0);
  return {query, metadata.integer(name + ".attention.head_count_kv").value_or(query)};
}

GgufWeights::GgufWeights(std::shared_ptr<const GgufFile> file) : file_(std::move(file)) {
  within("reading " + file_->path().string(), [&] {
    const GgufMetadata& metadata = file_->metadata();
    const std::int64_t parts = metadata.integer("split.count").value_or(1);
    check(parts <= 1, "it is one of {} parts: join them with llama.cpp's llama-gguf-split --merge", parts);
    const std::string name = architecture_of(metadata);
    architecture_ = &gguf_architecture(name, metadata.integer(name + ".expert_count").value_or(0) > 0);
    heads_ = heads_of(metadata);
    for (const GgufTensorInfo& info : file_->tensors())
      if (!is_of_the_config(info.name)) add_all(info);
  });
}

void GgufWeights::add(const std::string& published, const Place& place, const GgufTensorInfo& info) {
  Place made = place;
  Shape shape = info.shape;
  std::int64_t begin = info.begin, end = info.end;
  if (place.index) {
    const std::vector<std::int64_t> sizes = inner_sizes(info.shape);
    shape = Shape(std::span<const std::int64_t>(sizes));
    const std::int64_t bytes = (info.end - info.begin) / info.shape[0];
    begin += *place.index * bytes;
    end = begin + bytes;
  }
  const GgufType* type = gguf_type(info.type);
  const QuantisedFormat* blocks = type && type->format ? std::get_if<QuantisedFormat>(&*type->format) : nullptr;
  const DType* plain = type && type->format ? std::get_if<DType>(&*type->format) : nullptr;
  made.info = {.name = published,
               .type = plain && place.change != GgufChange::one_more ? *plain : DType::F32,
               .shape = published_shape(shape, place.change),
               .begin = begin,
               .end = end,
               .quantised = blocks ? std::optional(*blocks) : std::nullopt};
  check(places_.emplace(published, std::move(made)).second, "two of its tensors are the published {}",
        json_quoted(published));
}

void GgufWeights::add_all(const GgufTensorInfo& info) {
  for (const GgufNameRule& rule : architecture_->names) {
    std::optional<GgufNameMatch> match = match_name(rule.file, info.name);
    if (!match || (!rule.beside.empty() && !file_->find(name_with(rule.beside, *match)))) continue;
    Place place{.name = info.name, .change = rule.change};
    if (rule.published.find("[]") == std::string::npos) return add(name_with(rule.published, *match), place, info);
    check(info.shape.rank() >= 1 && info.shape.numel() > 0 && info.shape[0] <= most_stacked,
          "tensor {} has the shape {}: expected up to {} tensors in one", json_quoted(info.name), info.shape,
          most_stacked);
    for (std::int64_t i = 0; i < info.shape[0]; ++i) {
      match->index = place.index = i;
      add(name_with(rule.published, *match), place, info);
    }
    return;
  }
  add(info.name, {.name = info.name}, info);
}

const GgufWeights::Place& GgufWeights::at(std::string_view name) const {
  auto found = places_.find(name);
  if (found != places_.end()) return found->second;
  const std::string near = nearest_name(std::string(name), names());
  fail("{} has no tensor \"{}\"{}", file_->path().string(), name,
       near.empty() ? "" : "; the nearest name is \"" + near + "\"");
}

std::vector<std::string> GgufWeights::names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : places_) names.push_back(name);
  return names;
}

const TensorInfo* GgufWeights::find(std::string_view name) const {
  auto found = places_.find(name);
  return found == places_.end() ? nullptr : &found->second.info;
}

Tensor GgufWeights::tensor(std::string_view name) const {
  const Place& place = at(name);
  return within(file_->path().string() + ": tensor " + json_quoted(place.name), [&] {
    Tensor values;
    if (place.info.quantised) {
      const QuantisedTensor blocks = file_->quantised(place.name);
      values = dequantise(place.index ? part(blocks, *place.index) : blocks);
    } else {
      values = file_->tensor(place.name);
      if (place.index) values = part(values, *place.index);
    }
    values = published_values(values, place.change, heads_);
    // Where a copy is all that is used from here on, the file's pages need not stay in memory beside it.
    if (place.info.quantised || is_copy(place.change)) file_->drop_pages(place.name);
    return values;
  });
}

std::optional<QuantisedTensor> GgufWeights::quantised(std::string_view name) const {
  const Place& place = at(name);
  if (!place.info.quantised || place.change == GgufChange::one_more) return std::nullopt;
  return within(file_->path().string() + ": tensor " + json_quoted(place.name), [&] {
    const QuantisedTensor stored = file_->quantised(place.name);
    return published_blocks(place.index ? part(stored, *place.index) : stored, place.change, heads_);
  });
}

void GgufWeights::drop_pages(std::string_view name) const { file_->drop_pages(at(name).name); }

}  // namespace attune
