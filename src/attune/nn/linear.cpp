#include "attune/nn/linear.h"

#include "attune/nn/quantised_weight.h"

namespace attune {

Linear::Linear(const Weights& w, std::int64_t in, std::int64_t out, LinearOptions options) {
  const Shape shape = options.in_by_out ? Shape{in, out} : Shape{out, in};
  const Initial initial = Initial::normal(options.deviation);
  if (std::optional<QuantisedTensor> blocks = w.blocks("weight", {out, in}))
    matrix_ = std::make_shared<QuantisedWeight>(*blocks);
  else if (w.linears() == LinearFormat::int8 || w.keeps_int8("weight"))
    matrix_ = std::make_shared<RoundedMatrix>(w.int8("weight", shape, initial, options.in_by_out));
  else
    matrix_ = std::make_shared<DenseWeight>(LinearWeight(w.parameter("weight", shape, initial), options.in_by_out));
  if (options.bias) bias_ = w.parameter("bias", {out}, Initial::zeros());
}

}  // namespace attune
