#include "attune/models/encoder/convolution.h"

#include "attune/ops/arithmetic.h"
#include "attune/ops/batched_matmul.h"
#include "attune/ops/view.h"

namespace attune {

Convolution::Convolution(const Weights& w, const ConvolutionSizes& sizes)
    : sizes_(sizes),
      weight_(w.parameter("weight", {sizes.width, sizes.width / sizes.groups, sizes.kernel},
                          Initial::normal(sizes.deviation))),
      bias_(w.parameter("bias", {sizes.width}, Initial::zeros())) {}

Tensor Convolution::operator()(const Tensor& x, const Offsets& offsets) const {
  const std::int64_t tokens = x.dim(0), width = sizes_.width, kernel = sizes_.kernel;
  // One row of zeros stands for all that is beyond a sequence.
  const Tensor rows = concatenate_rows({x, Tensor::zeros({1, width}, x.dtype())});
  std::vector<std::int64_t> seen;  // [kernel, tokens]
  for (std::int64_t j = 0; j < kernel; ++j)
    for (std::int64_t s = 0; s < offsets.count(); ++s)
      for (std::int64_t t = offsets.begin(s); t < offsets.end(s); ++t) {
        const std::int64_t from = t + j - kernel / 2;
        seen.push_back(from >= offsets.begin(s) && from < offsets.end(s) ? from : tokens);
      }
  const Tensor taps = select_rows(rows, Tensor::from<std::int64_t>({kernel * tokens}, seen));
  // [tokens, width, kernel], in the order of the weight's last two dimensions
  const Tensor in =
      reshape(contiguous(transposed(reshape(taps, {kernel, tokens * width}), 0, 1)), {tokens, width * kernel});
  const std::int64_t groups = sizes_.groups, outputs = width / groups, inputs = outputs * kernel;
  const Tensor by_group = transposed(reshape(in, {tokens, groups, inputs}), 0, 1);
  const Tensor weight = transposed(reshape(weight_, {groups, outputs, inputs}), 1, 2);
  const Tensor y = batched_matmul(by_group, weight);  // [groups, tokens, outputs]
  return add_row(reshape(contiguous(transposed(y, 0, 1)), {tokens, width}), bias_);
}

}  // namespace attune
