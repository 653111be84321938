#include "attune/checkpoint/checkpoint.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/checkpoint/gguf_weights.h"
#include "attune/checkpoint/weight_writer.h"

namespace attune {

namespace {

constexpr const char* single_name = "model.safetensors";
constexpr const char* scale_ending = "_scale";
constexpr const char* index_name = "model.safetensors.index.json";

struct Index {
  std::map<std::string, std::string> file_of;  // tensor -> shard
  Metadata metadata;
};

/// A shard lies beside its index: any other path could read files that are not the model's.
void check_shard_name(const std::string& name) {
  check(!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
            name.find('\\') == std::string::npos && name.find('\0') == std::string::npos,
        "the shard {} is not a plain file name: a shard must lie beside its index", json_quoted(name));
}

Index read_index(const Path& path) {
  Json json = read_json(path);
  return within("reading " + path.string(), [&] {
    check(json.is_object(), "it is not a JSON object");
    Index index;
    auto map = json.find("weight_map");
    check(map != json.end() && map->is_object(), "it has no object \"weight_map\"");
    check(!map->empty(), "its \"weight_map\" names no tensor");
    for (const auto& [name, file] : map->items()) {
      check(file.is_string(), "\"weight_map\" has a value that is not a file name at {}", json_quoted(name));
      check_shard_name(file.get_ref<const std::string&>());
      index.file_of[name] = file.get<std::string>();
    }
    if (auto metadata = json.find("metadata"); metadata != json.end() && metadata->is_object())
      for (const auto& [key, value] : metadata->items())
        index.metadata[key] = value.is_string() ? value.get<std::string>() : value.dump();
    return index;
  });
}

Path file_to_open(const Path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  for (const char* name : {single_name, index_name})
    if (std::filesystem::exists(path / name, ignored)) return path / name;
  fail("reading {}: the directory has neither {} nor {}", path.string(), single_name, index_name);
}

/// One safetensors file, or the shards of an index.
class SafetensorsFiles : public TensorStore {
 public:
  explicit SafetensorsFiles(Path source) : source_(std::move(source)) {}

  Metadata add_all(const Path& path) {
    files_.push_back(SafetensorsFile::open(path));
    for (const TensorInfo& info : files_[0].tensors()) where_[info.name] = 0;
    find_codes();
    return files_[0].metadata();
  }
  void add_shards(const Index& index);

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, file] : where_) names.push_back(name);
    return names;
  }
  const TensorInfo* find(std::string_view name) const override {
    if (auto coded = coded_.find(name); coded != coded_.end()) return &coded->second;
    auto found = where_.find(name);
    return found == where_.end() ? nullptr : files_[found->second].find(name);
  }
  Tensor tensor(std::string_view name) const override {
    const std::optional<Int8Codes> coded = int8(name);
    return coded ? within("reading tensor " + json_quoted(std::string(name)), [&] { return values_of(*coded); })
                 : file_of(name).tensor(name);
  }
  std::optional<Int8Codes> int8(std::string_view name) const override {
    if (!coded_.contains(name)) return std::nullopt;
    const SafetensorsFile& scales = files_[scales_.find(name)->second];
    return Int8Codes{file_of(name).tensor(name), scales.tensor(std::string(name) + scale_ending)};
  }
  std::optional<QuantisedTensor> quantised(std::string_view) const override { return std::nullopt; }
  void drop_pages(std::string_view name) const override { file_of(name).drop_pages(name); }
  std::vector<Path> files() const override {
    std::vector<Path> paths;
    for (const SafetensorsFile& file : files_) paths.push_back(file.path());
    return paths;
  }

 private:
  /// "X.weight" of I8 and "X.weight_scale" of a float type with a value for each row are one matrix in int8, as
  /// compressed-tensors' format "int-quantized" has them
  /// (https://github.com/vllm-project/compressed-tensors, compressors/quantized_compressors).
  void find_codes() {
    std::vector<std::string> found;
    for (const auto& [name, file] : where_) {
      const TensorInfo& info = *files_[file].find(name);
      const auto scale = where_.find(name + scale_ending);
      if (info.type != DType::I8 || info.shape.rank() != 2 || !name.ends_with(".weight") || scale == where_.end())
        continue;
      const TensorInfo& of_scale = *files_[scale->second].find(scale->first);
      const bool is_float = of_scale.type == DType::F32 || of_scale.type == DType::F16 || of_scale.type == DType::BF16;
      if (!is_float || !(of_scale.shape == Shape{info.shape[0], 1} || of_scale.shape == Shape{info.shape[0]})) continue;
      found.push_back(name);
    }
    for (const std::string& name : found) {
      TensorInfo info = *find(name);
      info.type = DType::F32;
      scales_[name] = where_.at(name + scale_ending);
      where_.erase(name + scale_ending);
      coded_.emplace(name, std::move(info));
    }
  }
  static Tensor values_of(const Int8Codes& coded) {
    const Tensor codes = coded.codes.to(DType::F32), scales = coded.scales.to(DType::F32).contiguous();
    Tensor values = Tensor::empty(codes.shape());
    const std::int64_t width = codes.dim(1);
    for (std::int64_t i = 0; i < codes.dim(0); ++i)
      for (std::int64_t j = 0; j < width; ++j)
        values.mutable_data<float>()[i * width + j] = codes.data<float>()[i * width + j] * scales.data<float>()[i];
    return values;
  }

  const SafetensorsFile& file_of(std::string_view name) const {
    auto found = where_.find(name);
    if (found != where_.end()) return files_[found->second];
    const std::string near = nearest_name(std::string(name), names());
    fail("{} has no tensor \"{}\"{}", source_.string(), name,
         near.empty() ? "" : "; the nearest name is \"" + near + "\"");
  }

  Path source_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, std::size_t, std::less<>> where_;   // a tensor's name -> its file in files_
  std::map<std::string, TensorInfo, std::less<>> coded_;    // matrices in int8, as what their values are read as
  std::map<std::string, std::size_t, std::less<>> scales_;  // such a matrix -> its scales' file
};

void SafetensorsFiles::add_shards(const Index& index) {
  std::map<std::string, std::size_t> opened;
  for (const auto& [tensor, file] : index.file_of) opened[file] = 0;
  for (auto& [file, at] : opened) {
    at = files_.size();
    files_.push_back(within("the shard " + file + " of " + source_.string(),
                            [&, &file = file] { return SafetensorsFile::open(source_.parent_path() / file); }));
    for (const TensorInfo& info : files_.back().tensors()) {
      auto listed = index.file_of.find(info.name);
      check(listed != index.file_of.end() && listed->second == file,
            "reading {}: the shard {} holds tensor {}, which \"weight_map\" does not say", source_.string(), file,
            json_quoted(info.name));
    }
  }
  for (const auto& [tensor, file] : index.file_of) {
    const std::size_t at = opened[file];
    check(files_[at].find(tensor) != nullptr, "reading {}: tensor {} should be in the shard {} and is not there",
          source_.string(), json_quoted(tensor), file);
    where_[tensor] = at;
  }
  find_codes();
}

}  // namespace

Checkpoint Checkpoint::open(const Path& path) {
  Checkpoint made;
  made.path_ = file_to_open(path);
  if (made.path_.extension() == ".gguf") {
    made.gguf_ = std::make_shared<const GgufFile>(GgufFile::open(made.path_));
    made.tensors_ = std::make_shared<const GgufWeights>(made.gguf_);
    return made;
  }
  auto files = std::make_shared<SafetensorsFiles>(made.path_);
  if (made.path_.extension() != ".json") {
    made.metadata_ = files->add_all(made.path_);
  } else {
    Index index = read_index(made.path_);
    made.metadata_ = std::move(index.metadata);
    files->add_shards(index);
  }
  made.tensors_ = std::move(files);
  return made;
}

const TensorInfo& Checkpoint::info(std::string_view name) const {
  if (const TensorInfo* found = tensors_->find(name)) return *found;
  const std::string near = nearest_name(std::string(name), names());
  fail("{} has no tensor \"{}\"{}", path_.string(), name, near.empty() ? "" : "; the nearest name is \"" + near + "\"");
}

namespace {

std::int64_t bytes_in(const TensorToWrite& one) {
  return one.shape.numel() * static_cast<std::int64_t>(size_of(one.type));
}

std::vector<std::vector<TensorToWrite>> into_shards(const std::vector<TensorToWrite>& tensors,
                                                    std::int64_t shard_bytes) {
  std::vector<std::vector<TensorToWrite>> shards(1);
  std::int64_t filled = 0;
  for (const TensorToWrite& one : tensors) {
    std::int64_t bytes = bytes_in(one);
    if (!shards.back().empty() && filled + bytes > shard_bytes) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(one);
    filled += bytes;
  }
  return shards;
}

}  // namespace

void write_sharded(const Path& directory, const std::vector<NamedTensor>& tensors, const Metadata& metadata,
                   std::int64_t shard_bytes) {
  write_tensors_sharded(directory, to_write(tensors), metadata, shard_bytes);
}

void write_tensors_sharded(const Path& directory, const std::vector<TensorToWrite>& tensors, const Metadata& metadata,
                           std::int64_t shard_bytes) {
  check(shard_bytes > 0, "writing weights: a shard of {} bytes holds nothing", shard_bytes);
  for (const char* name : {single_name, index_name}) {
    std::error_code ignored;
    check(!std::filesystem::exists(directory / name, ignored),
          "writing weights: {} is there already: choose a new directory", (directory / name).string());
  }
  std::vector<std::vector<TensorToWrite>> shards = into_shards(tensors, shard_bytes);
  if (shards.size() == 1) return write_tensors(directory / single_name, tensors, metadata);

  Json weight_map = Json::object();
  std::set<std::string> names;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    std::string file = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    for (const TensorToWrite& one : shards[i]) {
      check(names.insert(one.name).second, "writing weights: the name {} is given to two tensors",
            json_quoted(one.name));
      weight_map.get_ref<Json::object_t&>().emplace_back(one.name, file);
      total += bytes_in(one);
    }
    write_tensors(directory / file, shards[i], metadata);
  }
  Json index = {{"metadata", {{"total_size", total}}}, {"weight_map", weight_map}};
  write_file_atomically(directory / index_name, to_text(index, 2) + "\n");
}

}  // namespace attune
