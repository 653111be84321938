#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attune/tensor/dtype.h"
#include "attune/tensor/shape.h"

namespace attune {

struct Storage;  // tensor/storage.h: one block of the allocator, a mapped file's bytes, or bytes that someone else owns
struct GradLink;  // autograd/tape.h: this tensor's place in the graph

/// A strided view of shared storage, and its place in the gradient graph if it has one. Copying a Tensor copies the
/// handle. Tensors in a graph are immutable: only the optimiser, a cache and gradient accumulation write through
/// mutable_data(). The views here (as_shape, rows, transposed, ...) share storage and leave the graph; with gradients
/// they are operations (ops/view.h).
class Tensor {
 public:
  Tensor() = default;  // no tensor: defined() is false

  static Tensor empty(const Shape& shape, DType type = DType::F32);  // contents are whatever was there
  static Tensor zeros(const Shape& shape, DType type = DType::F32);
  static Tensor full(const Shape& shape, double value, DType type = DType::F32);
  template <class T>
  static Tensor from(const Shape& shape, std::span<const T> values);  // copies; throws Error if the count does not fit
  template <class T>
  static Tensor from(const Shape& shape, const std::vector<T>& values) {
    return from<T>(shape, std::span<const T>(values));
  }
  static Tensor scalar(double value, DType type = DType::F32) { return full({}, value, type); }
  /// Same shape and type, own contiguous storage, contents undefined.
  static Tensor like(const Tensor& other) { return empty(other.shape(), other.dtype()); }
  /// A view of bytes kept alive by `storage` (a mapped file): contiguous.
  static Tensor over(std::shared_ptr<Storage> storage, std::int64_t byte_offset, const Shape& shape, DType type);

  bool defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  std::int64_t dim(int i) const { return shape_[i]; }  // negative counts from the end
  std::int64_t numel() const { return shape_.numel(); }
  /// All dimensions but the last multiplied: the rows of the matrix that most operations see. 1 for rank 0 and 1.
  std::int64_t row_count() const;
  std::int64_t width() const { return rank() == 0 ? 1 : dim(-1); }
  std::int64_t stride(int i) const;  // in elements; negative i counts from the end
  bool is_contiguous() const;
  DType dtype() const { return type_; }

  /// First element. Throws Error if T is not the element type.
  template <class T>
  const T* data() const;
  template <class T>
  T* mutable_data() const;
  /// All elements in order; throws Error unless contiguous.
  template <class T>
  std::span<const T> values() const;
  template <class T>
  std::span<T> mutable_values() const;
  /// The one element of any float tensor, as a number.
  double item() const;
  template <class T>
  std::vector<T> to_vector() const;  // copies, any strides

  // Views without gradient. They throw Error where the shape cannot be had without a copy.
  Tensor as_shape(const Shape& shape) const;
  Tensor rows(std::int64_t begin, std::int64_t end) const;  // of dimension 0
  Tensor slice(int dim, std::int64_t begin, std::int64_t end) const;
  Tensor transposed(int a, int b) const;
  /// Itself if contiguous, else a copy. Without gradient.
  Tensor contiguous() const;
  Tensor clone() const;
  /// Another float or integer type, values converted (round to nearest even). Without gradient.
  Tensor to(DType type) const;
  /// Same storage, outside the graph.
  Tensor detached() const;
  /// Nobody else holds this storage and it may be written: its holder may reuse it in place.
  bool sole_owner() const;

  /// How often the storage was changed in place, by those few who may; each calls mark_changed() when it has.
  std::int64_t version() const;
  void mark_changed() const;

  /// For autograd only.
  const std::shared_ptr<GradLink>& grad_link() const { return grad_; }
  void set_grad_link(std::shared_ptr<GradLink> link) { grad_ = std::move(link); }

 private:
  std::byte* bytes() const;

  std::shared_ptr<Storage> storage_;
  std::int64_t offset_ = 0;  // in elements
  Shape shape_;
  std::array<std::int64_t, Shape::max_rank> strides_{};
  DType type_ = DType::F32;
  std::shared_ptr<GradLink> grad_;
};

/// Copies values between equal shapes, any strides, same type.
void copy_into(const Tensor& from, const Tensor& to);

}  // namespace attune
