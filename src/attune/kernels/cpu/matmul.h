#pragma once

#include <cstdint>
#include <memory>

#include "attune/kernels/matrix.h"

namespace attune {
struct Storage;
}

namespace attune::kernels {

/// The right operand of a matmul, [rows, columns], in the order in which the kernel reads it: panels of 32 columns,
/// each [rows, 32], the last one filled up with zeros. Weights are packed once and used often. The layout is the same
/// on every CPU.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Copies `b` into memory of its own (the tensor allocator's).
  explicit PackedMatrix(const Matrix<float>& b);
  /// Copies `b` into `memory`: floats_for() values, 64-byte aligned, which must live as long as this.
  PackedMatrix(const Matrix<float>& b, float* memory);
  static std::int64_t floats_for(std::int64_t rows, std::int64_t columns);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  const float* panel(std::int64_t i) const;  // [rows, 32]: columns 32 i on

 private:
  std::shared_ptr<Storage> storage_;
  const float* data_ = nullptr;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
};

/// C = start + A B. a: [m, k], b: [k, n], c: [m, n], which must not overlap a.
/// Each element of C is one chain of fused multiply-adds in the order of k, begun with `start` (so a bias costs
/// nothing), whatever m is, however the operands lie in memory and however many threads there are: one row alone has
/// the bits that it has in a batch. Runs on the pool of base/threads.h; inside parallel() on the calling thread. Throws
/// Error where sizes do not fit.
void matmul(const Matrix<float>& a, const PackedMatrix& b, const Rows<float>& c, const MatmulStart<float>& start = {});

/// The same for an operand that is used once: packs it panel by panel on the way or, for many rows, into memory of the
/// allocator's first.
void matmul(const Matrix<float>& a, const Matrix<float>& b, const Rows<float>& c, const MatmulStart<float>& start = {});

}  // namespace attune::kernels
