#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attune/checkpoint/safetensors.h"

namespace attune {

/// The weights of a model as published: one safetensors file, or shards under a model.safetensors.index.json. Opening
/// reads and checks every header; values are read when they are used.
class Checkpoint {
 public:
  /// A .safetensors file, a .safetensors.index.json, or a directory that holds model.safetensors or, where that is
  /// absent, its index. Throws Error where nothing of the kind is there, a shard is missing or named by anything but a
  /// plain file name, or the index and the shards do not name exactly the same tensors.
  static Checkpoint open(const Path& path);

  std::vector<std::string> names() const;  // sorted
  bool contains(std::string_view name) const { return where_.find(name) != where_.end(); }
  /// Type and shape, without reading values. Throws Error with the nearest name where there is none.
  const TensorInfo& info(std::string_view name) const;
  /// As SafetensorsFile::tensor: a view of the mapped file.
  Tensor tensor(std::string_view name) const;
  void drop_pages(std::string_view name) const;
  /// Of the file, or of the index.
  const Metadata& metadata() const { return metadata_; }
  /// The path it was opened by, for messages.
  std::string source() const { return path_.string(); }
  /// The files that hold the tensors, in order of name.
  std::vector<Path> files() const;

 private:
  const SafetensorsFile& file_of(std::string_view name) const;

  Path path_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, std::size_t, std::less<>> where_;  // a tensor's name -> its file in files_
  Metadata metadata_;
};

/// Writes a model's weights into an existing directory: model.safetensors where they fit into `shard_bytes`, else
/// model-00001-of-0000N.safetensors, ... and model.safetensors.index.json, written last. Tensors keep their order over
/// the shards; one that is larger than `shard_bytes` has a shard of its own. Each file is whole or absent; to have the
/// set so, call it inside write_directory_atomically. Throws Error where the directory holds weights already.
void write_sharded(const Path& directory, const std::vector<NamedTensor>& tensors,
                   const Metadata& metadata = pytorch_metadata,
                   std::int64_t shard_bytes = std::int64_t{5} * 1000 * 1000 * 1000);

}  // namespace attune
