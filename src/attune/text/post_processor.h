#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "attune/text/json_view.h"

namespace attune {

/// A token on its way into an Encoding; offsets are code points of the sequence's text.
struct Token {
  std::int32_t id;
  std::int32_t begin, end;
  std::int32_t type = 0;
  std::int32_t added = -1;   // index of the text of a token that has its own: an added one with white space around it
  std::int8_t sequence = 0;  // 0, 1; -1 for a token of the post-processor's own
};
using TokenList = std::vector<Token>;

/// How many white-space characters a token's text begins and ends with.
struct Margins {
  std::uint32_t leading = 0, trailing = 0;
};

/// Joins one or two sequences to what the model reads: adds [CLS] and the like, sets types, trims offsets.
class PostProcessor {
 public:
  struct Context {
    bool add_special_tokens;
    const std::function<Margins(const Token&)>* margins;
  };

  virtual ~PostProcessor() = default;
  /// `sequences` holds one or two lists at first, and in the end what is joined in order.
  virtual void apply(std::vector<TokenList>& sequences, const Context& context) const = 0;
  virtual bool trims_offsets() const { return false; }

  /// The "post_processor" of a tokenizer file; null for null. Throws Error that names what is not supported.
  static std::shared_ptr<const PostProcessor> read(const JsonView& json, int depth = 0);
};

}  // namespace attune
