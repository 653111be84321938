#pragma once

#include <memory>
#include <vector>

#include "attune/train/trainer.h"

namespace attune {

/// Examples and, for each, the number of the document that it comes from.
struct NumberedExamples {
  std::vector<Example> examples = {};
  std::vector<std::int64_t> origins = {};
};

/// Examples that are the same in every epoch.
class FixedSet : public TrainingSet {
 public:
  explicit FixedSet(std::vector<Example> examples) : examples_(std::move(examples)) {}
  std::int64_t count() const override { return static_cast<std::int64_t>(examples_.size()); }
  std::int64_t tokens(std::int64_t i) const override { return at(i).tokens(); }
  Example example(std::int64_t i, const RandomKey&) const override { return at(i); }

 private:
  const Example& at(std::int64_t i) const { return examples_[static_cast<std::size_t>(i)]; }
  std::vector<Example> examples_;
};

/// Examples of which a share of the tokens reads as the mask token, others each time (word dropout: Iyyer et al. 2015,
/// "Deep unordered composition rivals syntactic methods for text classification", section 3.2): a classifier then leans
/// on no single word.
class TokenDropoutSet : public TrainingSet {
 public:
  /// special_ids are never dropped. Throws Error unless 0 <= share < 1.
  TokenDropoutSet(std::unique_ptr<TrainingSet> examples, double share, std::int64_t mask_id,
                  std::vector<std::int64_t> special_ids);
  std::int64_t count() const override { return examples_->count(); }
  std::int64_t tokens(std::int64_t i) const override { return examples_->tokens(i); }
  Example example(std::int64_t i, const RandomKey& key) const override;

 private:
  std::unique_ptr<TrainingSet> examples_;
  double share_;
  std::int64_t mask_id_;
  std::vector<std::int64_t> special_ids_;
};

/// Masked-token prediction (Devlin et al. 2019, section 3.1): `probability` of the tokens are to be predicted; of these
/// 80 % read as the mask token, 10 % as a random one, 10 % as they are. Anew in each epoch.
struct Masking {
  double probability = 0.15;
  std::int64_t mask_id = 0;
  std::int64_t vocab_size = 0;
  std::vector<std::int64_t> special_ids;  // never chosen, never put in
};

class MaskedSet : public TrainingSet {
 public:
  /// sequences: ids with their special tokens.
  MaskedSet(std::vector<std::vector<std::int64_t>> sequences, Masking masking);
  std::int64_t count() const override { return static_cast<std::int64_t>(sequences_.size()); }
  std::int64_t tokens(std::int64_t i) const override { return static_cast<std::int64_t>(at(i).size()); }
  Example example(std::int64_t i, const RandomKey& key) const override;

 private:
  const std::vector<std::int64_t>& at(std::int64_t i) const { return sequences_[static_cast<std::size_t>(i)]; }
  std::int64_t random_token(RandomStream& random) const;

  std::vector<std::vector<std::int64_t>> sequences_;
  Masking masking_;
};

/// Texts for next-token prediction: joined, a separator behind each, and cut into blocks of `length`; the last one may
/// be shorter. Every token is in exactly one block.
std::vector<Example> language_model_blocks(const std::vector<std::vector<std::int64_t>>& texts, std::int64_t separator,
                                           std::int64_t length);

}  // namespace attune
