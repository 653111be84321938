#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "attune/kernels/matrix.h"
#include "attune/kernels/rows.h"

namespace attune {
struct Storage;
}

namespace attune::kernels {

/// A matrix [outputs, inputs] of whole numbers of -127 to 127 with a scale for each output (its largest magnitude /
/// 127), in memory of its own and in the order in which the kernels read it.
class Int8Matrix {
 public:
  static constexpr std::int64_t most_inputs = 1 << 17;  // sums stay within 32 bits

  Int8Matrix() = default;
  /// Rounds to nearest. Throws Error for a value that is not finite or too many inputs.
  explicit Int8Matrix(const Matrix<float>& w);
  /// What a file keeps: codes of -128 to 127, [outputs, inputs], and a scale for each output. Throws Error for a scale
  /// that is not finite or too many inputs.
  Int8Matrix(const Rows<const std::int8_t>& codes, const float* scales);

  std::int64_t outputs() const { return outputs_; }
  std::int64_t inputs() const { return inputs_; }
  std::int64_t bytes() const;
  /// What rounding left out: root of the mean of squares of the differences, over that of the values (0 for a matrix of
  /// zeros).
  double error() const { return error_; }
  /// The codes as [outputs, inputs], and their scales.
  void write_codes(const Rows<std::int8_t>& to) const;
  std::span<const float> scales() const { return {scales_, static_cast<std::size_t>(outputs_)}; }
  /// The numbers that are kept, as [outputs, inputs].
  void dequantise(const Rows<float>& to) const;

 private:
  struct Places;
  Places make_room();
  int code(std::int64_t output, std::int64_t input) const;
  friend void matmul(const Rows<const float>& x, const Int8Matrix& w, const Rows<float>& y, const float* bias);

  std::shared_ptr<Storage> storage_;  // codes [outputs / 32, inputs / 4, 32, 4], filled up with zeros; scales, alike
  const std::uint8_t* codes_ = nullptr;
  const float* scales_ = nullptr;
  std::int64_t outputs_ = 0, inputs_ = 0, padded_inputs_ = 0;
  int sign_offset_ = 0;  // what was added to the codes
  double error_ = 0;
};

/// y[i, j] = bias[j] + sum over k of x[i, k] * w[j, k]. Each row of x is rounded to whole numbers of -127 to 127 times
/// its largest magnitude / 127; the sums of products are exact, then scaled once: no order of sums, number of threads
/// or batch shows in a bit. Throws Error where sizes do not fit.
void matmul(const Rows<const float>& x, const Int8Matrix& w, const Rows<float>& y, const float* bias = nullptr);

}  // namespace attune::kernels
