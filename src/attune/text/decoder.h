#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attune/text/json_view.h"

namespace attune {

/// Turns the texts of tokens into text; what a chain of decoders leaves is joined.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  virtual void apply(std::vector<std::string>& tokens) const = 0;

  /// The "decoder" of a tokenizer file; null for null. Throws Error that names what is not supported.
  static std::shared_ptr<const TokenDecoder> read(const JsonView& json, int depth = 0);
};

}  // namespace attune
