#pragma once

#include <cstdint>
#include <string>

#include "attune/bundle/bundle.h"

namespace attune::explain {

/// Whether two forms of one model write conversations alike.
struct TemplateParity {
  bool any = false;  // one of them has a chat template
  /// Short ones that both were given and one of them wrote: with and without a system message, an answer, tools.
  std::int64_t conversations = 0;
  std::int64_t other_texts = 0;  // of them, those that came out as different texts, or that one of them refused
  std::int64_t other_ids = 0;    // those of the same text and different token ids
  std::string first_other = {};  // what the first one of other_texts says where they part
};

TemplateParity compare_templates(const Bundle& first, const Bundle& second);

}  // namespace attune::explain
