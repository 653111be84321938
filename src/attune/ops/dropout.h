#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "attune/base/random.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// Which token each row of a batch is: what its random numbers are keyed by, so that a token's dropout depends neither
/// on the batch it is in nor on its row there. Copies share.
struct TokenPlaces {
  std::shared_ptr<const std::vector<std::int64_t>> examples;   // [tokens] the example's id in the data
  std::shared_ptr<const std::vector<std::int32_t>> positions;  // [tokens] the token's place in its example

  static TokenPlaces of(std::vector<std::int64_t> examples, std::vector<std::int32_t> positions);
  std::int64_t count() const { return examples ? static_cast<std::int64_t>(examples->size()) : 0; }
};

/// y = x * keep / (1 - rate), keep 0 with probability `rate` (Srivastava et al. 2014, scaled in training so that
/// inference is the identity). Channels 4b..4b+3 of a row use the four numbers philox(key.bits(), example, position,
/// b); a value is dropped where its number is below rate * 2^32. x: [tokens, ...]; the channels are all values of a row
/// of dimension 0. Nothing is kept for the backward pass, the numbers are made again. rate 0 gives x itself. Throws
/// Error unless 0 <= rate < 1.
Tensor dropout(const Tensor& x, double rate, const RandomKey& key, const TokenPlaces& places);

/// residual + dropout(x) in one pass over memory: the same values as add(residual, dropout(x, ...)).
Tensor dropout_add(const Tensor& x, const Tensor& residual, double rate, const RandomKey& key,
                   const TokenPlaces& places);

}  // namespace attune
