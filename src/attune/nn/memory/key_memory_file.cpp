#include <charconv>
#include <limits>

#include "attune/base/error.h"
#include "attune/checkpoint/safetensors.h"
#include "attune/nn/memory/content_hash.h"
#include "attune/nn/memory/key_memory.h"

namespace attune {

namespace {

constexpr const char* format_name = "attune key memory 1";

const std::string document_prefix = "document.";

std::string graph_name(std::int64_t head, const char* part) { return fmt::format("graph.{}.{}", head, part); }

std::int64_t number_of(const std::string& key, std::string_view text, std::int64_t at_least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && end == text.data() + text.size() && value >= at_least,
        "\"{}\" has \"{}\" in its metadata: expected a whole number from {} on", key, text, at_least);
  return value;
}

/// A whole number of the file's metadata.
std::int64_t number_in(const Metadata& metadata, const std::string& key, std::int64_t at_least) {
  const auto found = metadata.find(key);
  check(found != metadata.end(), "its metadata lacks \"{}\"", key);
  return number_of(key, found->second, at_least);
}

/// A tensor of the file with the type and sizes that it must have; a size below 0 may be any.
Tensor tensor_in(const SafetensorsFile& file, const std::string& name, DType type,
                 const std::vector<std::int64_t>& sizes) {
  const Tensor x = file.tensor(name);
  bool fits = x.dtype() == type && x.rank() == static_cast<int>(sizes.size());
  for (std::size_t i = 0; fits && i < sizes.size(); ++i) fits = sizes[i] < 0 || x.dim(static_cast<int>(i)) == sizes[i];
  check(fits, "\"{}\" is {} {}, which is not what a memory holds", name, name_of(x.dtype()), x.shape());
  return x;
}

template <class T>
Tensor flat(const std::vector<T>& values) {
  return Tensor::from<T>({static_cast<std::int64_t>(values.size())}, values);
}

/// What was written is what is read.
void check_whole(const SafetensorsFile& file) {
  const auto written = file.metadata().find(content_hash_key);
  check(written != file.metadata().end(), "its metadata lacks \"{}\", the hash of what it holds", content_hash_key);
  std::vector<NamedTensor> tensors;
  for (const TensorInfo& one : file.tensors()) tensors.push_back({one.name, file.tensor(one.name)});
  check(content_hash(tensors, file.metadata()) == written->second,
        "its content is not what was written: it has another SHA-256. Take a copy from before it was changed, or add "
        "the texts to a new memory");
}

}  // namespace

void KeyMemory::save(const Path& path) {
  if (dead_ > 0 || (!graphs_.empty() && graphs_[0].removed() > 0)) rebuild();
  Metadata metadata = {{"format", format_name},
                       {"origin", origin},
                       {"next_id", std::to_string(next_)},
                       {"exact_up_to", std::to_string(options_.exact_up_to)},
                       {"links", std::to_string(options_.graph.links)},
                       {"build_breadth", std::to_string(options_.graph.build_breadth)},
                       {"search_breadth", std::to_string(options_.graph.search_breadth)}};
  for (const auto& [document, name] : names) metadata[document_prefix + std::to_string(document)] = name;
  std::vector<NamedTensor> tensors = {
      {"ids", flat(ids_)}, {"documents", flat(documents_)}, {"keys", keys()}, {"values", values()}};
  for (std::int64_t head = 0; head < static_cast<std::int64_t>(graphs_.size()); ++head) {
    const GraphLinks links = graphs_[static_cast<std::size_t>(head)].links();
    tensors.push_back({graph_name(head, "levels"), flat(links.levels)});
    tensors.push_back({graph_name(head, "links"), flat(links.links)});
    metadata[graph_name(head, "entry")] = std::to_string(links.entry);
  }
  metadata[content_hash_key] = content_hash(tensors, metadata);
  write_safetensors(path, std::move(tensors), metadata);
}

KeyMemory KeyMemory::open(const Path& path) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  return within("reading the memory " + path.string(), [&] {
    const Metadata& metadata = file.metadata();
    const auto format = metadata.find("format");
    check(format != metadata.end() && format->second == format_name,
          "it is not a file of keys and values: its metadata does not say \"format\": \"{}\"", format_name);
    check_whole(file);
    KeyMemoryOptions options{.exact_up_to = number_in(metadata, "exact_up_to", 0),
                             .graph = {.links = number_in(metadata, "links", 2),
                                       .build_breadth = number_in(metadata, "build_breadth", 1),
                                       .search_breadth = number_in(metadata, "search_breadth", 0)}};
    constexpr std::int64_t widest = std::int64_t{1} << 20;  // no file makes a graph search more than that at once
    check(options.graph.build_breadth <= widest && options.graph.search_breadth <= widest,
          "its graphs have breadths of {} and {}", options.graph.build_breadth, options.graph.search_breadth);
    const Tensor k = tensor_in(file, "keys", DType::F32, {-1, -1, -1});
    const Tensor v = tensor_in(file, "values", DType::F32, {k.dim(0), k.dim(1), -1});
    const std::int64_t count = k.dim(0);
    const Tensor ids = tensor_in(file, "ids", DType::I64, {count});
    const Tensor documents = tensor_in(file, "documents", DType::I64, {count});

    KeyMemory memory({.kv_heads = k.dim(1), .head_dim = k.dim(2), .value_dim = v.dim(2)}, options);
    check(v.dim(2) >= 1, "its values have no width");
    memory.check_rows(k, v);
    memory.next_ = number_in(metadata, "next_id", 0);
    check(memory.next_ < std::int64_t{1} << 62, "its next id is {}: none is left to count up to", memory.next_);
    const auto origin = metadata.find("origin");
    if (origin != metadata.end()) memory.origin = origin->second;
    for (auto one = metadata.lower_bound(document_prefix); one != metadata.end(); ++one) {
      if (!one->first.starts_with(document_prefix)) break;
      const std::string_view number = std::string_view(one->first).substr(document_prefix.size());
      memory.names[number_of(one->first, number, std::numeric_limits<std::int64_t>::min())] = one->second;
    }
    memory.ids_ = ids.to_vector<std::int64_t>();
    memory.documents_ = documents.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < memory.ids_.size(); ++i)
      check(memory.ids_[i] >= (i == 0 ? 0 : memory.ids_[i - 1] + 1) && memory.ids_[i] < memory.next_,
            "entry {} has the id {}: ids rise from 0 and stay below {}", i, memory.ids_[i], memory.next_);
    memory.empty_.assign(static_cast<std::size_t>(count), false);
    memory.keys_ = k.clone(), memory.values_ = v.clone();

    const bool graphs = count > options.exact_up_to;
    const std::size_t expected = 4 + (graphs ? 2 * static_cast<std::size_t>(k.dim(1)) : 0);
    check(file.tensors().size() == expected, "it holds {} tensors, and {} make such a memory", file.tensors().size(),
          expected);
    if (!graphs) return memory;
    for (std::int64_t head = 0; head < k.dim(1); ++head) {
      const GraphLinks links{
          .levels = tensor_in(file, graph_name(head, "levels"), DType::I32, {count}).to_vector<std::int32_t>(),
          .links = tensor_in(file, graph_name(head, "links"), DType::I32, {-1}).to_vector<std::int32_t>(),
          .entry = number_in(metadata, graph_name(head, "entry"), -1)};
      within(fmt::format("the graph of head {}", head), [&] {
        memory.graphs_.emplace_back(k.dim(2), options.graph, links, memory.key_at(0, head), k.dim(1) * k.dim(2));
      });
    }
    memory.slot_of_.resize(static_cast<std::size_t>(count));
    for (std::int64_t slot = 0; slot < count; ++slot) memory.slot_of_[static_cast<std::size_t>(slot)] = slot;
    memory.number_of_ = memory.slot_of_;
    return memory;
  });
}

}  // namespace attune
