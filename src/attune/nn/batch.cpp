#include "attune/nn/batch.h"

#include <algorithm>

#include "attune/base/error.h"

namespace attune {

Tensor Batch::dropped(const Tensor& x, double rate, const RandomKey& site) const {
  return dropout && rate > 0 ? attune::dropout(x, rate, site, places) : x;
}

std::int64_t Batch::planned_length(std::int64_t s) const {
  if (!planned_lengths.empty()) {
    check(static_cast<std::int64_t>(planned_lengths.size()) == offsets.count(),
          "a batch of {} sequences has planned lengths of {}", offsets.count(), planned_lengths.size());
    return planned_lengths[static_cast<std::size_t>(s)];
  }
  if (cache || offsets.length(s) == 0) return 0;
  const auto all = positions.values<std::int64_t>();
  return *std::max_element(all.begin() + offsets.begin(s), all.begin() + offsets.end(s)) + 1;
}

Batch Batch::of(const std::vector<std::vector<std::int64_t>>& sequences, std::int64_t first_example) {
  std::vector<std::int64_t> examples(sequences.size());
  for (std::size_t i = 0; i < examples.size(); ++i) examples[i] = first_example + static_cast<std::int64_t>(i);
  return of(sequences, examples);
}

Batch Batch::of(const std::vector<std::vector<std::int64_t>>& sequences, const std::vector<std::int64_t>& examples) {
  check(sequences.size() == examples.size(), "a batch of {} sequences needs as many example numbers, not {}",
        sequences.size(), examples.size());
  std::vector<std::int64_t> lengths, ids, positions, owners;
  std::vector<std::int32_t> places;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    lengths.push_back(static_cast<std::int64_t>(sequences[s].size()));
    for (std::size_t t = 0; t < sequences[s].size(); ++t) {
      ids.push_back(sequences[s][t]);
      positions.push_back(static_cast<std::int64_t>(t));
      owners.push_back(examples[s]);
      places.push_back(static_cast<std::int32_t>(t));
    }
  }
  Batch batch;
  Shape shape{static_cast<std::int64_t>(ids.size())};
  batch.ids = Tensor::from<std::int64_t>(shape, ids);
  batch.positions = Tensor::from<std::int64_t>(shape, positions);
  batch.offsets = Offsets::from_lengths(lengths);
  batch.examples = examples;
  batch.places = TokenPlaces::of(std::move(owners), std::move(places));
  return batch;
}

}  // namespace attune
