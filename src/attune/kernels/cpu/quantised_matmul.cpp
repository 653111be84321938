#include "attune/kernels/cpu/quantised_matmul.h"

#include <algorithm>
#include <cstring>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/quantised_kernels.h"
#include "attune/kernels/cpu/scratch.h"
#include "attune/kernels/workspace.h"

namespace attune::kernels {

namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr std::int64_t block_rows = 256;  // of x: their sums for a tile are 32 KiB
constexpr std::int64_t few_rows = 4;      // of x: reading the weights is what takes the time
constexpr std::int64_t half_block = 16;   // values of x whose codes' sum is known

/// All of x, rounded, with what its products with a format need besides.
class CodedX {
 public:
  CodedX(const Rows<const float>& x, const CodeRule& rule, const IntegerKernels& kernels)
      : inputs_(x.width),
        parts_(x.width / rule.part),
        codes_(2 * x.count * x.width),
        low_(codes_.data() + x.count * x.width),
        scales_(x.count * (x.width / x_block)),
        starts_(x.count * parts_),
        sums_(rule.has_addend ? x.count * parts_ : 1),
        has_sums_(rule.has_addend) {
    const std::int64_t halves = x.width / half_block;
    const int offset = rule.offset + (rule.has_sign ? kernels.sign_offset : 0);
    parallel(x.count, std::max<std::int64_t>(1, (1 << 14) / x.width), [&](std::int64_t begin, std::int64_t end) {
      Scratch scratch;
      auto* of_halves = scratch.take<std::int32_t>(halves);
      for (std::int64_t i = begin; i < end; ++i) {
        float* scales = scales_.data() + i * (inputs_ / x_block);
        kernels.encode(x[i], x.width, {codes_.data() + i * inputs_, low_ + i * inputs_, scales, of_halves});
        for (std::int64_t part = 0; part < parts_; ++part) {
          std::int32_t sum = of_halves[part * rule.part / half_block];
          if (rule.part == x_block) sum += of_halves[2 * part + 1];
          starts_.data()[i * parts_ + part] = -offset * sum;
          if (rule.has_addend)
            sums_.data()[i * parts_ + part] = scales[part * rule.part / x_block] * static_cast<float>(sum);
        }
      }
    });
  }

  /// Rows from `row` on, inputs from `input` on.
  CodedRows at(std::int64_t row, std::int64_t input) const {
    const std::int64_t blocks = inputs_ / x_block, part = input / (inputs_ / parts_);
    return {codes_.data() + row * inputs_ + input,
            low_ + row * inputs_ + input,
            scales_.data() + row * blocks + input / x_block,
            starts_.data() + row * parts_ + part,
            has_sums_ ? sums_.data() + row * parts_ + part : nullptr,
            inputs_,
            blocks,
            parts_};
  }

 private:
  std::int64_t inputs_, parts_;
  Workspace<std::int8_t> codes_;    // [2, m, inputs], the upper and the lower bits
  std::int8_t* low_;                // the lower ones
  Workspace<float> scales_;         // [m, inputs / 32]
  Workspace<std::int32_t> starts_;  // [m, parts]
  Workspace<float> sums_;           // [m, parts]
  bool has_sums_;
};

struct Work {
  const QuantisedRows& w;
  const Rows<float>& y;
  const float* bias;
  const CodedX& x;
  const CodeRule rule = code_rule(w.format);
  const IntegerKernels& kernels = integer_kernels();
};

/// The blocks of 32 outputs from `first` on. Where the matrix has fewer they are copied to `spare`, [32, bytes of the
/// inputs], in which the others' are whatever was there.
PackedOutputs outputs_from(const Work& w, std::int64_t first, std::int64_t input, std::int64_t inputs,
                           std::uint8_t* spare) {
  const QuantisedBlock block = block_of(w.w.format);
  const std::int64_t offset = input / block.values * block.bytes, bytes = inputs / block.values * block.bytes;
  const auto* data = reinterpret_cast<const std::uint8_t*>(w.w.stored(first)) + offset;
  // The next tile's memory, in as many steps: which part comes when does not matter.
  const std::int64_t next = std::min(first + tile_outputs, w.w.count - 1);
  const auto* ahead = reinterpret_cast<const std::uint8_t*>(w.w.stored(next)) + tile_outputs * offset;
  if (first + tile_outputs <= w.w.count) return {data, w.w.stride, inputs, ahead};
  for (std::int64_t i = 0; i < w.w.count - first; ++i)
    std::memcpy(spare + i * bytes, data + i * w.w.stride, static_cast<std::size_t>(bytes));
  return {spare, bytes, inputs, ahead};
}

/// y's rows [row, row + rows) for the 32 outputs that are stored from `first` on.
void multiply_tile(const Work& w, std::int64_t row, std::int64_t rows, std::int64_t first) {
  Scratch scratch;
  const std::int64_t parts = tile_inputs / w.rule.part;
  const CodeTile tile{scratch.take<std::uint8_t>(tile_inputs * tile_outputs), scratch.take<float>(parts * tile_outputs),
                      scratch.take<float>(parts * tile_outputs)};
  auto* sums = scratch.take<float>(rows * tile_outputs);                     // [rows, 32]
  auto* spare = scratch.take<std::uint8_t>(tile_outputs * tile_inputs * 2);  // no format takes two bytes a value
  const std::int64_t width = std::min(tile_outputs, w.y.width - first);
  const std::int64_t* place = w.w.order ? w.w.order->place.data() + first : nullptr;
  std::fill(sums, sums + rows * tile_outputs, 0.0f);
  for (std::int64_t i = 0; w.bias && i < rows; ++i)
    for (std::int64_t j = 0; j < width; ++j) sums[i * tile_outputs + j] = w.bias[place ? place[j] : first + j];

  const auto format = static_cast<std::size_t>(w.w.format);
  for (std::int64_t input = 0; input < w.w.width; input += tile_inputs) {
    const std::int64_t inputs = std::min(tile_inputs, w.w.width - input);
    const PackedOutputs outputs = outputs_from(w, first, input, inputs, spare);
    if (rows == 1) {
      w.kernels.multiply_one[format](outputs, w.x.at(row, input), sums);
      continue;
    }
    w.kernels.unpack[format](outputs, tile);
    w.kernels.multiply[format]({tile, w.x.at(row, input), inputs, sums}, rows);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* from = sums + i * tile_outputs;
    float* to = w.y[row + i];
    if (place)
      for (std::int64_t j = 0; j < width; ++j) to[place[j]] = from[j];
    else
      std::copy(from, from + width, to + first);
  }
}

/// Tiles for one task: about 32 KiB of weights read, or multiplications done in that time; more where there are many
/// tiles. Few rows wait for memory, and what is asked for ahead is the next tile's, which another thread has where the
/// task ends: each thread then has a single task.
std::int64_t tiles_of_task(std::int64_t rows, const QuantisedRows& w) {
  constexpr std::int64_t worth = 1 << 15, multiplications_of_byte = 16;
  const std::int64_t cost = tile_outputs * (w.stride + rows * w.width / multiplications_of_byte);
  const std::int64_t tiles = divide_up(w.count, tile_outputs), most_tasks = rows <= few_rows ? num_threads() : 256;
  return std::max(worth / std::max<std::int64_t>(1, cost), divide_up(tiles, most_tasks));
}

}  // namespace

void matmul(const Rows<const float>& x, const QuantisedRows& w, const Rows<float>& y, const float* bias) {
  check(x.width == w.width && y.count == x.count && y.width == w.count,
        "quantised matmul: [{}, {}] times [{}, {}] transposed does not give [{}, {}]", x.count, x.width, w.count,
        w.width, y.count, y.width);
  check(w.width % block_of(w.format).values == 0, "quantised matmul: {} inputs are no whole blocks of {}", w.width,
        name_of(w.format));
  if (y.count == 0 || y.width == 0) return;
  if (w.width == 0) {
    for (std::int64_t i = 0; i < y.count; ++i)
      for (std::int64_t j = 0; j < y.width; ++j) y[i][j] = bias ? bias[j] : 0.0f;
    return;
  }
  // The first tile's memory is on its way while x is rounded; each tile asks for the next one's.
  for (std::int64_t i = 0; i < std::min(w.count, tile_outputs) * w.stride && x.count <= few_rows; i += 64)
    __builtin_prefetch(w.data + i, 0, 2);
  const CodedX coded(x, code_rule(w.format), integer_kernels());
  const Work work{w, y, bias, coded};
  const std::int64_t tiles = divide_up(w.count, tile_outputs), rows_at_once = std::min(x.count, block_rows);
  const std::int64_t together = std::min(tiles, tiles_of_task(rows_at_once, w)), groups = divide_up(tiles, together);
  // All of one block of rows first: its codes stay in a cache.
  parallel(divide_up(x.count, block_rows) * groups, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t row = task / groups * block_rows, rows = std::min(block_rows, x.count - row);
      const std::int64_t first = task % groups * together;
      for (std::int64_t tile = first; tile < std::min(tiles, first + together); ++tile)
        multiply_tile(work, row, rows, tile * tile_outputs);
    }
  });
}

}  // namespace attune::kernels
