#include "attune/train/training_sets.h"

#include <algorithm>

#include "attune/base/error.h"

namespace attune {

TokenDropoutSet::TokenDropoutSet(std::unique_ptr<TrainingSet> examples, double share, std::int64_t mask_id,
                                 std::vector<std::int64_t> special_ids)
    : examples_(std::move(examples)), share_(share), mask_id_(mask_id), special_ids_(std::move(special_ids)) {
  check(share >= 0 && share < 1, "token dropout of {}: give a share from 0 to below 1", share);
}

Example TokenDropoutSet::example(std::int64_t i, const RandomKey& key) const {
  Example example = examples_->example(i, key);
  RandomStream random(key.at("token dropout").at(static_cast<std::uint64_t>(i)));
  for (auto& chunk : example.chunks)
    for (std::int64_t& id : chunk)
      if (random.uniform() < share_ && std::find(special_ids_.begin(), special_ids_.end(), id) == special_ids_.end())
        id = mask_id_;
  return example;
}

MaskedSet::MaskedSet(std::vector<std::vector<std::int64_t>> sequences, Masking masking)
    : sequences_(std::move(sequences)), masking_(std::move(masking)) {
  check(masking_.vocab_size > static_cast<std::int64_t>(masking_.special_ids.size()),
        "masked-token training: the vocabulary of {} has no token that is not special", masking_.vocab_size);
}

std::int64_t MaskedSet::random_token(RandomStream& random) const {
  const auto& special = masking_.special_ids;
  std::int64_t id = random.below(masking_.vocab_size);
  while (std::find(special.begin(), special.end(), id) != special.end()) id = random.below(masking_.vocab_size);
  return id;
}

Example MaskedSet::example(std::int64_t i, const RandomKey& key) const {
  const auto& special = masking_.special_ids;
  RandomStream random(key.at("mask").at(static_cast<std::uint64_t>(i)));
  Example masked = Example::of(at(i));
  std::vector<std::int64_t>& ids = masked.chunks[0];
  masked.labels.assign(ids.size(), ignored_label);
  for (std::size_t t = 0; t < ids.size(); ++t) {
    if (std::find(special.begin(), special.end(), ids[t]) != special.end()) continue;
    if (random.uniform() >= masking_.probability) continue;
    masked.labels[t] = ids[t];
    double fate = random.uniform();
    if (fate < 0.8)
      ids[t] = masking_.mask_id;
    else if (fate < 0.9)
      ids[t] = random_token(random);
  }
  return masked;
}

std::vector<Example> language_model_blocks(const std::vector<std::vector<std::int64_t>>& texts, std::int64_t separator,
                                           std::int64_t length) {
  check(length >= 2, "language modelling: blocks of {} tokens have nothing to predict", length);
  std::vector<Example> blocks;
  std::vector<std::int64_t> block;
  auto put = [&](std::int64_t id) {
    block.push_back(id);
    if (static_cast<std::int64_t>(block.size()) < length) return;
    blocks.push_back(Example::of(std::move(block)));
    block.clear();
  };
  for (const auto& text : texts) {
    for (std::int64_t id : text) put(id);
    put(separator);
  }
  if (!block.empty()) blocks.push_back(Example::of(std::move(block)));
  for (Example& b : blocks) b.labels = b.chunks[0];
  return blocks;
}

}  // namespace attune
