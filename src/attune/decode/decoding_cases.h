#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attune/autograd/tape.h"
#include "attune/base/file.h"
#include "attune/models/model.h"

/// What the tests of decoding try it with: models, texts, and logits without a cache.
namespace attune {

using Ids = std::vector<std::int64_t>;

/// The model of a directory in the published layout, without a tokenizer; defined in golden_test.cpp.
std::unique_ptr<Model> open(const Path& directory);

/// Eight texts of 1 to 100 tokens: more than a page of the cache, where the model has as many positions.
inline std::vector<Ids> eight_texts(const Model& model) {
  const std::int64_t vocabulary = model.facts().vocab_size - 1, most = model.facts().longest.value_or(100) - 3;
  std::vector<Ids> texts;
  RandomStream random({.seed = 4});
  for (std::int64_t length : {5, 1, 12, 100, 64, 3, 65, 17}) {
    texts.emplace_back();
    for (std::int64_t i = 0; i < std::min(length, most); ++i) texts.back().push_back(3 + random.below(vocabulary - 4));
  }
  return texts;
}

/// Logits of a causal model's last row, without a cache.
inline std::vector<float> logits_of(const Model& model, const Ids& text) {
  NoGradient none;
  Batch batch = Batch::of({text});
  Ids last = {static_cast<std::int64_t>(text.size()) - 1};
  return model.head().logits(model.forward(batch), batch, &last).to_vector<float>();
}
/// The same of an encoder-decoder.
inline std::vector<float> logits_of(const Model& model, const Ids& source, const Ids& written) {
  NoGradient none;
  Batch batch = Batch::of({written});
  Ids last = {static_cast<std::int64_t>(written.size()) - 1};
  return model.head().logits(model.forward(batch, model.encode(Batch::of({source}))), batch, &last).to_vector<float>();
}

}  // namespace attune
