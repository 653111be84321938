#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attune/tensor/shape.h"
#include "attune/tensor/storage.h"

namespace attune {

/// Formats that keep numbers in blocks of small whole numbers with a scale of their own, as GGUF files hold them
/// (https://github.com/ggml-org/ggml, docs/gguf.md). What each byte of a block means:
/// kernels/quantised_blocks.h.
enum class QuantisedFormat : std::uint8_t {
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_NL,
  IQ4_XS
};

inline constexpr std::array all_quantised_formats = {
    QuantisedFormat::Q4_0, QuantisedFormat::Q4_1, QuantisedFormat::Q5_0,   QuantisedFormat::Q5_1,
    QuantisedFormat::Q8_0, QuantisedFormat::Q2_K, QuantisedFormat::Q3_K,   QuantisedFormat::Q4_K,
    QuantisedFormat::Q5_K, QuantisedFormat::Q6_K, QuantisedFormat::IQ4_NL, QuantisedFormat::IQ4_XS};

/// How many values share a block, and the bytes that it takes.
struct QuantisedBlock {
  std::int64_t values, bytes;
};
QuantisedBlock block_of(QuantisedFormat format);
std::string_view name_of(QuantisedFormat format);  // "q4_k"
/// The format of a name as name_of() gives it, in either case; none for other names.
std::optional<QuantisedFormat> quantised_format_named(std::string_view name);

/// Where a matrix's rows are kept: row i as row stored[i], and what is kept as row s is row place[s].
struct RowOrder {
  std::vector<std::int64_t> stored, place;
};

/// A contiguous tensor in a block-quantised format: a handle on shared storage, as Tensor is, read-only where the bytes
/// are a mapped file's. Blocks lie along the last dimension, and a row begins with a block. It has no arithmetic of its
/// own: ops/quantised.h multiplies by it and looks rows up.
class QuantisedTensor {
 public:
  /// Own storage, contents undefined. Throws Error for a scalar, or where the last dimension is no multiple of the
  /// block's values.
  static QuantisedTensor empty(const Shape& shape, QuantisedFormat format);
  /// A view of bytes that `storage` keeps alive (a mapped file). Throws Error as empty() does, and where the storage
  /// ends before the tensor. No alignment is needed.
  static QuantisedTensor over(std::shared_ptr<Storage> storage, std::int64_t byte_offset, const Shape& shape,
                              QuantisedFormat format);

  QuantisedFormat format() const { return format_; }
  const Shape& shape() const { return shape_; }
  std::int64_t dim(int i) const { return shape_[i]; }
  /// Of the matrix of the last dimension.
  std::int64_t row_count() const { return row_bytes() == 0 ? 0 : byte_count() / row_bytes(); }
  std::int64_t width() const { return shape_[-1]; }
  std::int64_t row_bytes() const { return width() / block_of(format_).values * block_of(format_).bytes; }
  std::int64_t byte_count() const { return shape_.numel() / block_of(format_).values * block_of(format_).bytes; }

  /// As they are kept, whatever the order of the rows.
  const std::byte* data() const { return storage_->data + byte_offset_; }
  /// Throws Error where rows are kept in another order.
  std::span<const std::byte> bytes() const;
  /// Throws Error there, and where the storage is read-only.
  std::span<std::byte> mutable_bytes() const;

  /// Indices [begin, end) of the first dimension: a view of the same storage. Throws Error where rows are kept in
  /// another order, as as_shape() and in_order() do.
  QuantisedTensor rows(std::int64_t begin, std::int64_t end) const;
  /// The same blocks in another shape of the same last dimension.
  QuantisedTensor as_shape(const Shape& shape) const;
  /// The matrix whose row i is row order[i] of this one: nothing is copied. Throws Error where `order` does not have
  /// each row once.
  QuantisedTensor in_order(std::vector<std::int64_t> order) const;
  const RowOrder* row_order() const { return order_.get(); }  // null: rows are kept as they are numbered

 private:
  std::shared_ptr<Storage> storage_;
  std::int64_t byte_offset_ = 0;
  std::shared_ptr<const RowOrder> order_;
  Shape shape_;
  QuantisedFormat format_ = QuantisedFormat::Q8_0;
};

}  // namespace attune
