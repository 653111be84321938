#pragma once

#include <string_view>
#include <vector>

#include "attune/bundle/contract.h"
#include "attune/data/chunks.h"
#include "attune/data/example.h"
#include "attune/text/tokenizer.h"

namespace attune {

/// A text as one model reads it: every token in exactly one piece.
struct EncodedText {
  std::vector<std::vector<std::int64_t>> chunks;  // with special tokens
  std::int64_t tokens = 0;                        // of all chunks, special ones included
};

/// Turns texts into the ids of one model under a policy for long ones: whole sections are packed into chunks of at most
/// `longest` tokens (data/chunks.h), or a text that is longer is refused. Nothing is ever cut.
class TextEncoder {
 public:
  /// `longest` 0 in the policy: `model_longest`; both 0: no bound. Throws Error where special tokens leave no room.
  TextEncoder(Tokenizer tokenizer, LongPolicy policy, std::int64_t model_longest);

  /// Throws Error with both numbers where the policy refuses the length.
  EncodedText encode(std::string_view text) const;
  /// The same for many texts on all threads, in their order; an Error names the text by its number from 1.
  std::vector<EncodedText> encode_all(const std::vector<std::string_view>& texts) const;

  /// The same in parts, for what needs to know where each token stands: the pieces of a text that was encoded without
  /// special tokens, and the ids of one with them.
  std::vector<Chunk> pieces(std::string_view text, const Encoding& encoding) const;
  std::vector<std::int64_t> ids_of(const Encoding& encoding, const Chunk& piece) const;
  /// Special tokens in front of each piece's own.
  std::int64_t tokens_before() const { return static_cast<std::int64_t>(before_.size()); }

  const Tokenizer& tokenizer() const { return tokenizer_; }
  std::int64_t longest() const { return longest_; }

 private:
  Tokenizer tokenizer_;
  LongPolicy policy_;
  std::int64_t longest_;
  std::vector<std::int64_t> before_, after_;  // special tokens around a single text
};

}  // namespace attune
