#pragma once

#include <optional>
#include <vector>

#include "attune/models/model.h"

namespace attune {

/// For each token that an encoder-decoder wrote, the source token that it looked at most: the largest cross-attention
/// weight, averaged over the heads of the last layer but one (Garg et al. 2019, "Jointly learning to align and
/// translate", section 3), where token t's query is that of the position which wrote it. Of equal weights the first.
/// `written` without what the decoder begins with: `begin_id`, else its decoder_start_token_id. Returns [written
/// tokens] source positions for each.
std::vector<std::vector<std::int64_t>> align(const Model& model, const std::vector<std::vector<std::int64_t>>& sources,
                                             const std::vector<std::vector<std::int64_t>>& written,
                                             std::optional<std::int64_t> begin_id = {});

}  // namespace attune
