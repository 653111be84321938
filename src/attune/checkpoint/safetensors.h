#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/file.h"
#include "attune/tensor/quantised.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// What a file of weights says of one tensor.
struct TensorInfo {
  std::string name;
  DType type = DType::F32;  // a safetensors file's BOOL is U8: one byte a value
  Shape shape;
  std::int64_t begin = 0, end = 0;                // its bytes, counted from the beginning of the file
  std::optional<QuantisedFormat> quantised = {};  // blocks, in a GGUF file; `type` is what their values are read as
};

using Metadata = std::map<std::string, std::string>;

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // in the order of their bytes, then of their names
  Metadata metadata;                // the member __metadata__
};

/// Reads and checks the header of a whole safetensors file (https://huggingface.co/docs/safetensors, "Format"): 8 bytes
/// of little-endian length, that many bytes of JSON, then the tensors' bytes, which must follow one another without
/// gaps or overlaps up to the file's end. Every fault of the file is one Error that begins with "reading SOURCE"; the
/// bytes of tensors are not looked at.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& source);

/// One safetensors file, mapped: nothing but the header is read until a tensor's values are.
class SafetensorsFile {
 public:
  static SafetensorsFile open(const Path& path);

  const Path& path() const { return file_.path(); }
  const std::vector<TensorInfo>& tensors() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  /// Null where the file has no tensor of that name.
  const TensorInfo* find(std::string_view name) const;
  /// A read-only view of the file's bytes, which keeps the mapping alive. Where the file did not align the tensor to
  /// its element size, a copy. Throws Error with the nearest name where there is none.
  Tensor tensor(std::string_view name) const;
  /// Lets the pages of a tensor leave memory; a later read brings them back from the file.
  void drop_pages(std::string_view name) const;

 private:
  const TensorInfo& at(std::string_view name) const;

  MappedFile file_;
  std::shared_ptr<Storage> storage_;
  SafetensorsHeader header_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// What PyTorch's users expect in a file of weights.
inline const Metadata pytorch_metadata = {{"format", "pt"}};

/// Writes one file, whole or not at all. The same tensors give the same bytes whatever their order: they are sorted as
/// the safetensors library sorts them, by falling element size and then by name. Throws Error on a name given twice, a
/// name that is
/// "__metadata__" or not UTF-8, a tensor without contents, and where the disk refuses.
void write_safetensors(const Path& path, std::vector<NamedTensor> tensors, const Metadata& metadata = pytorch_metadata);

}  // namespace attune
