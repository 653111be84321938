#include "attune/models/head.h"

#include "attune/base/error.h"
#include "attune/ops/view.h"

namespace attune {

Tensor pick(const Tensor& hidden, const std::vector<std::int64_t>* rows) {
  if (!rows) return hidden;
  return select_rows(hidden, Tensor::from<std::int64_t>({static_cast<std::int64_t>(rows->size())}, *rows));
}

Tensor CausalLmHead::features(const Tensor& hidden, const Batch&, const std::vector<std::int64_t>* rows) const {
  return pick(hidden, rows);
}

Tensor first_tokens(const Tensor& hidden, const Batch& batch) {
  std::vector<std::int64_t> first;
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    check(batch.offsets.length(s) > 0, "sequence {} of the batch is empty: it has no first token to stand for it", s);
    first.push_back(batch.offsets.begin(s));
  }
  return pick(hidden, &first);
}

TokenPlaces first_places(const Batch& batch) {
  std::vector<std::int64_t> examples;
  std::vector<std::int32_t> positions;
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    auto first = static_cast<std::size_t>(batch.offsets.begin(s));
    examples.push_back((*batch.places.examples)[first]);
    positions.push_back((*batch.places.positions)[first]);
  }
  return TokenPlaces::of(std::move(examples), std::move(positions));
}

}  // namespace attune
