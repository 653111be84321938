#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/checkpoint/safetensors.h"
#include "attune/checkpoint/tensor_store.h"

namespace attune {

class GgufFile;

/// The weights of a model under their published names: one safetensors file, shards under a
/// model.safetensors.index.json, or a GGUF file. Opening reads and checks every header; values are read when they are
/// used. A handle: copies share the files.
class Checkpoint {
 public:
  /// A .gguf or .safetensors file, a .safetensors.index.json, or a directory that holds model.safetensors or, where
  /// that is absent, its index. Throws Error where nothing of the kind is there, a shard is missing or named by
  /// anything but a plain file name, the index and the shards do not name exactly the same tensors, or a GGUF file is
  /// of an architecture that is not known.
  static Checkpoint open(const Path& path);

  std::vector<std::string> names() const { return tensors_->names(); }  // sorted
  bool contains(std::string_view name) const { return tensors_->find(name) != nullptr; }
  /// Type and shape, without reading values. Throws Error with the nearest name where there is none.
  const TensorInfo& info(std::string_view name) const;
  /// A view of the mapped file; a copy where its bytes stand otherwise there, and in f32 where they are blocks or int8
  /// codes.
  Tensor tensor(std::string_view name) const { return tensors_->tensor(name); }
  /// The blocks where the file keeps the tensor in a block-quantised format; none where it does not. A weight that is
  /// published as [in, out] is [out, in] here: blocks lie along the inputs of a layer.
  std::optional<QuantisedTensor> quantised(std::string_view name) const { return tensors_->quantised(name); }
  /// The codes where the file keeps the matrix in int8; none where it does not.
  std::optional<Int8Codes> int8(std::string_view name) const { return tensors_->int8(name); }
  void drop_pages(std::string_view name) const { tensors_->drop_pages(name); }
  /// Of the safetensors file, or of the index.
  const Metadata& metadata() const { return metadata_; }
  /// The GGUF file that it stands on; null for others.
  const GgufFile* gguf() const { return gguf_.get(); }
  /// The path it was opened by, for messages.
  std::string source() const { return path_.string(); }
  /// The files that hold the tensors, in order of name.
  std::vector<Path> files() const { return tensors_->files(); }

 private:
  Path path_;
  std::shared_ptr<const TensorStore> tensors_;
  std::shared_ptr<const GgufFile> gguf_;
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
