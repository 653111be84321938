#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attune/base/file.h"
#include "attune/checkpoint/gguf_metadata.h"
#include "attune/checkpoint/gguf_type.h"
#include "attune/tensor/quantised.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// What a GGUF header says of one tensor.
struct GgufTensorInfo {
  std::string name;
  std::uint32_t type = 0;           // ggml's number: gguf_type() knows most
  Shape shape;                      // outermost first, as tensors here have it; the file counts from the innermost
  std::int64_t begin = 0, end = 0;  // its bytes, counted from the beginning of the file

  std::string type_name() const;  // "Q4_K"; "type 99" where no type has the number
};

struct GgufHeader {
  std::uint32_t version = 3;
  GgufMetadata metadata;
  std::vector<GgufTensorInfo> tensors;  // in the order of their bytes, then of their names
};

/// Reads and checks the header of a whole GGUF file of version 2 or 3, little-endian
/// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): metadata, then what tensors there are, then their
/// bytes, each tensor's at a multiple of the alignment. Every fault of the file is one Error that begins with "reading
/// SOURCE"; the bytes of tensors are not looked at. A tensor of a type that no version gives is taken to reach up to
/// the next one.
GgufHeader parse_gguf_header(std::span<const std::byte> file, const std::string& source);

/// One GGUF file, mapped: nothing but the header is read until a tensor's values are.
class GgufFile {
 public:
  static GgufFile open(const Path& path);

  const Path& path() const { return file_.path(); }
  const GgufMetadata& metadata() const { return header_.metadata; }
  const std::vector<GgufTensorInfo>& tensors() const { return header_.tensors; }
  /// Null where the file has no tensor of that name.
  const GgufTensorInfo* find(std::string_view name) const;
  /// Values that stand one by one: a read-only view that keeps the mapping alive; a copy where the file did not align
  /// them to their size, and for I16, which is read as I32. Throws Error for blocks, with the type's name for one that
  /// Attune does not read, and with the nearest name where there is no such tensor.
  Tensor tensor(std::string_view name) const;
  /// The blocks of a tensor of a block-quantised type: a view of the mapped file. Throws Error for every other.
  QuantisedTensor quantised(std::string_view name) const;
  /// Lets the pages of a tensor leave memory; a later read brings them back from the file.
  void drop_pages(std::string_view name) const;

 private:
  const GgufTensorInfo& at(std::string_view name) const;
  std::span<const std::byte> bytes_of(const GgufTensorInfo& info) const;

  MappedFile file_;
  std::shared_ptr<Storage> storage_;
  GgufHeader header_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

using GgufValues = std::variant<Tensor, QuantisedTensor>;

/// A tensor to write.
struct GgufTensor {
  std::string name;
  GgufFormat format;
  Shape shape;
  std::function<GgufValues()> values;  // called once, when its turn has come: no more than one need be in memory
};

/// Writes a file of version 3, whole or not at all, with the tensors in the order given and each at a multiple of
/// "general.alignment" (32 where the metadata do not say). Throws Error on a name given twice or longer than llama.cpp
/// reads (63 bytes), a type that the format lacks, more than four dimensions, and values of another format or shape
/// than was said.
void write_gguf(const Path& path, const GgufMetadata& metadata, const std::vector<GgufTensor>& tensors);

}  // namespace attune
