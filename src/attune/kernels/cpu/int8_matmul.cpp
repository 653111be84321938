#include "attune/kernels/cpu/int8_matmul.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/quantised_kernels.h"
#include "attune/kernels/cpu/scratch.h"
#include "attune/kernels/workspace.h"

namespace attune::kernels {

namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr std::int64_t block_rows = 128;  // of x, at once
constexpr std::int64_t few_rows = 4;

/// Where the code of an output and an input is in its tile.
std::int64_t place(std::int64_t output, std::int64_t input) {
  return (input / 4 * tile_outputs + output % tile_outputs) * 4 + input % 4;
}

struct Differences {
  double squares = 0, of_values = 0;
};

}  // namespace

/// Where a new matrix is written.
struct Int8Matrix::Places {
  std::uint8_t* codes;
  float* scales;
  std::int64_t of_tile, tiles;
};

/// Memory filled with zeros, for the sizes that are set.
Int8Matrix::Places Int8Matrix::make_room() {
  check(inputs_ <= most_inputs, "an int8 matrix has at most {} inputs, not {}: keep this weight in f32", most_inputs,
        inputs_);
  padded_inputs_ = divide_up(inputs_, 4) * 4;
  sign_offset_ = integer_kernels().sign_offset;
  const std::int64_t tiles = divide_up(outputs_, tile_outputs), of_tile = padded_inputs_ * tile_outputs;
  storage_ = allocate(static_cast<std::size_t>(tiles * of_tile) +
                      static_cast<std::size_t>(tiles * tile_outputs) * sizeof(float));
  auto* codes = reinterpret_cast<std::uint8_t*>(storage_->data);
  auto* scales = reinterpret_cast<float*>(codes + tiles * of_tile);
  std::fill(codes, codes + tiles * of_tile, static_cast<std::uint8_t>(sign_offset_));
  std::fill(scales, scales + tiles * tile_outputs, 0.0f);
  codes_ = codes, scales_ = scales;
  return {codes, scales, of_tile, tiles};
}

Int8Matrix::Int8Matrix(const Matrix<float>& w) : outputs_(w.rows), inputs_(w.columns) {
  const Places places = make_room();
  std::vector<Differences> differences(static_cast<std::size_t>(places.tiles));
  parallel(places.tiles, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      std::uint8_t* to = places.codes + tile * places.of_tile;
      Differences& sums = differences[static_cast<std::size_t>(tile)];
      for (std::int64_t j = tile * tile_outputs; j < std::min(outputs_, (tile + 1) * tile_outputs); ++j) {
        float most = 0;
        for (std::int64_t k = 0; k < inputs_; ++k) {
          check(std::isfinite(w(j, k)), "an int8 matrix cannot hold {} (output {}, input {})", w(j, k), j, k);
          most = std::max(most, std::abs(w(j, k)));
        }
        const float scale = most / 127, inverse = scale > 0 && std::isfinite(1 / scale) ? 1 / scale : 0;
        places.scales[j] = scale;
        for (std::int64_t k = 0; k < inputs_; ++k) {
          const float n = std::clamp(std::nearbyint(w(j, k) * inverse), -127.0f, 127.0f);
          to[place(j, k)] = static_cast<std::uint8_t>(static_cast<int>(n) + sign_offset_);
          const double value = w(j, k), difference = value - static_cast<double>(n * scale);
          sums.squares += difference * difference, sums.of_values += value * value;
        }
      }
    }
  });
  Differences all;
  for (const Differences& d : differences) all.squares += d.squares, all.of_values += d.of_values;
  error_ = all.of_values > 0 ? std::sqrt(all.squares / all.of_values) : 0;
}

Int8Matrix::Int8Matrix(const Rows<const std::int8_t>& codes, const float* scales)
    : outputs_(codes.count), inputs_(codes.width) {
  const Places places = make_room();
  for (std::int64_t j = 0; j < outputs_; ++j) {
    check(std::isfinite(scales[j]), "the scale of an int8 matrix is {} (output {})", scales[j], j);
    places.scales[j] = scales[j];
    std::uint8_t* to = places.codes + j / tile_outputs * places.of_tile;
    for (std::int64_t k = 0; k < inputs_; ++k) to[place(j, k)] = static_cast<std::uint8_t>(codes[j][k] + sign_offset_);
  }
}

int Int8Matrix::code(std::int64_t output, std::int64_t input) const {
  const std::uint8_t stored = codes_[output / tile_outputs * padded_inputs_ * tile_outputs + place(output, input)];
  return sign_offset_ ? stored - sign_offset_ : static_cast<std::int8_t>(stored);
}

void Int8Matrix::write_codes(const Rows<std::int8_t>& to) const {
  for (std::int64_t j = 0; j < outputs_; ++j)
    for (std::int64_t k = 0; k < inputs_; ++k) to[j][k] = static_cast<std::int8_t>(code(j, k));
}

std::int64_t Int8Matrix::bytes() const { return storage_ ? static_cast<std::int64_t>(storage_->size) : 0; }

void Int8Matrix::dequantise(const Rows<float>& to) const {
  check(to.count == outputs_ && to.width == inputs_, "an int8 matrix [{}, {}] is not [{}, {}]", outputs_, inputs_,
        to.count, to.width);
  for (std::int64_t j = 0; j < outputs_; ++j)
    for (std::int64_t k = 0; k < inputs_; ++k) to[j][k] = static_cast<float>(code(j, k)) * scales_[j];
}

void matmul(const Rows<const float>& x, const Int8Matrix& w, const Rows<float>& y, const float* bias) {
  check(x.width == w.inputs_ && y.count == x.count && y.width == w.outputs_,
        "int8 matmul: [{}, {}] times [{}, {}] transposed does not give [{}, {}]", x.count, x.width, w.outputs_,
        w.inputs_, y.count, y.width);
  if (y.count == 0 || y.width == 0) return;
  const IntegerKernels& kernels = integer_kernels();
  check(kernels.sign_offset == w.sign_offset_, "an int8 matrix was made for another set of instructions");
  const std::int64_t inputs = w.padded_inputs_;
  const Workspace<std::int8_t> codes(std::max<std::int64_t>(1, x.count * inputs));  // [m, inputs]
  const Workspace<float> scales(x.count);
  const Workspace<std::int32_t> starts(x.count);
  parallel(x.count, std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, inputs)),
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t i = begin; i < end; ++i) {
               const RowCode row = kernels.encode_row(x[i], x.width, codes.data() + i * inputs);
               scales.data()[i] = row.scale;
               starts.data()[i] = -kernels.sign_offset * row.sum;
             }
           });

  const auto multiply = [&](std::int64_t row, std::int64_t rows, std::int64_t tile) {
    const std::int64_t first = tile * tile_outputs, width = std::min(tile_outputs, w.outputs_ - first);
    WholeProduct product{w.codes_ + tile * inputs * tile_outputs,
                         w.scales_ + first,
                         bias ? bias + first : nullptr,
                         codes.data() + row * inputs,
                         inputs,
                         scales.data() + row,
                         starts.data() + row,
                         y[row] + first,
                         y.stride};
    if (width == tile_outputs) {
      kernels.multiply_whole(product, rows);
      return;
    }
    Scratch scratch;  // the kernel reads and writes whole tiles
    float* copy = scratch.take<float>((rows + 1) * tile_outputs);
    if (bias) {
      std::fill(copy, copy + tile_outputs, 0.0f);
      std::copy(product.bias, product.bias + width, copy);
      product.bias = copy;
    }
    product.y = copy + tile_outputs, product.y_stride = tile_outputs;
    kernels.multiply_whole(product, rows);
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy(product.y + i * tile_outputs, product.y + i * tile_outputs + width, y[row + i] + first);
  };
  const std::int64_t tiles = divide_up(w.outputs_, tile_outputs);
  // A task reads 32 KiB of weights or more, or multiplies for as long. With few rows, which wait for the weights, a
  // thread has a single one: what lies side by side comes faster.
  const std::int64_t cost = tile_outputs * inputs * (1 + std::min(x.count, block_rows) / 16) + 1;
  const std::int64_t least = std::clamp<std::int64_t>((1 << 15) / cost, 1, tiles);
  const std::int64_t together = x.count > few_rows ? least : std::max(least, divide_up(tiles, num_threads()));
  const std::int64_t groups = divide_up(tiles, together);
  parallel(divide_up(x.count, block_rows) * groups, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t row = task / groups * block_rows, first = task % groups * together;
      for (std::int64_t tile = first; tile < std::min(tiles, first + together); ++tile)
        multiply(row, std::min(block_rows, x.count - row), tile);
    }
  });
}

}  // namespace attune::kernels
