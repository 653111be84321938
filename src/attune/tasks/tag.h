#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attune/base/run.h"
#include "attune/bundle/bundle.h"
#include "attune/tasks/entities.h"

namespace attune {

struct TagOptions {
  EntityGrouping grouping = EntityGrouping::simple;
  std::optional<LongPolicy::Kind> long_policy = {};  // in place of the contract's
  std::int64_t batch_tokens = 8192;
};

struct TaggedText {
  std::vector<Entity> entities;  // in order; places in code points
  std::int64_t tokens = 0, chunks = 1;
};

/// Finds the entities of each text with a token classifier ("...ForTokenClassification"), in the order of the texts. A
/// word is what its tokens' marks say ("##"), and without marks what stands between spaces. A long text is refused with
/// both numbers, or read in pieces; where pieces overlap (stride) a token is what the piece says in which it has most
/// text on both sides. Throws Error for a model of another kind; Cancelled where the run is stopped.
std::vector<TaggedText> tag(const Bundle& bundle, std::span<const std::string_view> texts, const TagOptions& options,
                            const Run& run);

}  // namespace attune
