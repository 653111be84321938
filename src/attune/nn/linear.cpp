#include "attune/nn/linear.h"

namespace attune {

Linear::Linear(const Weights& w, std::int64_t in, std::int64_t out, LinearOptions options) {
  Shape shape = options.in_by_out ? Shape{in, out} : Shape{out, in};
  Tensor weight = w.parameter("weight", shape, Initial::normal(options.deviation));
  matrix_ = std::make_shared<DenseWeight>(LinearWeight(weight, options.in_by_out));
  if (options.bias) bias_ = w.parameter("bias", {out}, Initial::zeros());
}

}  // namespace attune
