#pragma once

#include <memory>

#include "attune/text/aligned_text.h"
#include "attune/text/json_view.h"

namespace attune {

/// Changes a text before anything splits it, keeping where each byte came from.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;

  /// The "normalizer" of a tokenizer file; null for null. Throws Error that names what is not supported.
  static std::shared_ptr<const Normalizer> read(const JsonView& json, int depth = 0);
};

std::shared_ptr<const Normalizer> read_bert_normalizer(const JsonView& json);
std::shared_ptr<const Normalizer> read_precompiled(const JsonView& json);
std::shared_ptr<const Normalizer> read_nmt(const JsonView& json);

}  // namespace attune
