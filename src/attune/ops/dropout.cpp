#include "attune/ops/dropout.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/dropout.h"
#include "attune/kernels/reference/dropout.h"
#include "attune/ops/indices.h"

namespace attune {

namespace {

/// One dropout: what its forward and its backward pass share.
struct Drop {
  double rate;
  std::uint64_t key;
  TokenPlaces places;

  kernels::DropoutRule rule() const {
    return {.key = key, .rate = rate, .examples = *places.examples, .positions = *places.positions};
  }
};

Drop checked(const Tensor& x, double rate, const RandomKey& key, const TokenPlaces& places) {
  check(rate >= 0 && rate < 1, "dropout: the rate must lie in [0, 1), got {}", rate);
  check(x.rank() > 0 && x.dim(0) == places.count(), "dropout: places of {} tokens do not fit x {}", places.count(),
        x.shape());
  return {rate, key.bits(), places};
}

Tensor dropped(const Tensor& x, const Drop& drop) {
  Tensor y = Tensor::like(x);
  dispatch("dropout", x.dtype(),
           [&]<class T>() { kernels::dropout(outer_rows_of<T>(x), drop.rule(), mutable_outer_rows_of<T>(y)); });
  return y;
}

}  // namespace

TokenPlaces TokenPlaces::of(std::vector<std::int64_t> examples, std::vector<std::int32_t> positions) {
  check(examples.size() == positions.size(), "{} example ids and {} positions are not of the same tokens",
        examples.size(), positions.size());
  return {std::make_shared<const std::vector<std::int64_t>>(std::move(examples)),
          std::make_shared<const std::vector<std::int32_t>>(std::move(positions))};
}

Tensor dropout(const Tensor& x, double rate, const RandomKey& key, const TokenPlaces& places) {
  if (rate == 0) return x;
  Drop drop = checked(x, rate, key, places);
  if (x.numel() == 0) return x;
  return record("dropout", dropped(x, drop), {x},
                [drop](const Tensor& dy, Gradients& gradients) { gradients.add(0, dropped(dy, drop)); });
}

Tensor dropout_add(const Tensor& x, const Tensor& residual, double rate, const RandomKey& key,
                   const TokenPlaces& places) {
  check_same("dropout_add", x, residual);
  Drop drop = checked(x, rate, key, places);
  Tensor y = Tensor::like(x);
  if (x.numel() > 0)
    dispatch("dropout_add", x.dtype(), [&]<class T>() {
      kernels::dropout_add(outer_rows_of<T>(x), outer_rows_of<T>(residual), drop.rule(), mutable_outer_rows_of<T>(y));
    });
  return record("dropout_add", y, {x, residual}, [drop](const Tensor& dy, Gradients& gradients) {
    if (gradients.wanted(0)) gradients.add(0, dy.numel() == 0 ? dy : dropped(dy, drop));
    gradients.add(1, dy);
  });
}

}  // namespace attune
