#pragma once

#include <memory>

#include "attune/text/json_view.h"
#include "attune/text/pieces.h"

namespace attune {

/// Splits normalised text into the words that the model sees.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(Pieces& pieces) const = 0;

  /// True where the last step only maps bytes to the byte alphabet; leave_bytes() then makes it leave them to the
  /// model.
  virtual bool ends_in_byte_level() const { return false; }
  virtual void leave_bytes() {}

  /// The "pre_tokenizer" of a tokenizer file; null for null. Throws Error that names what is not supported.
  static std::shared_ptr<PreTokenizer> read(const JsonView& json, int depth = 0);
};

std::shared_ptr<PreTokenizer> read_byte_level_pre_tokenizer(const JsonView& json);
std::shared_ptr<PreTokenizer> read_metaspace_pre_tokenizer(const JsonView& json);

/// A metaspace component's settings (its older spellings included), which the decoder shares.
struct Metaspace {
  std::string replacement;
  enum class Prepend { first, never, always } prepend = Prepend::always;
  bool split = true;
  static Metaspace read(const JsonView& json);
};

/// Splits by GPT-2's pattern (Radford et al. 2019, encoder.py): 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+|
/// ?[^\s\p{L}\p{N}]+| \s+(?!\S)|\s+, written out by hand because it is several times faster than a regular expression.
void split_as_gpt2(Pieces& pieces, const Piece& piece);

}  // namespace attune
