#pragma once

#include "attune/bundle/gguf_config_parts.h"

namespace attune {

// What only one architecture, or one family of them, has.

/// Qwen 2 and 3 have a window only where a flag says so, and then not in all layers.
GgufConfigPart qwen_window_part();
/// Gemma 2 and 3 scale scores by a number of their own, which no key says: the largest model of each has hidden_size /
/// heads, the others their heads' width.
GgufConfigPart query_scale_part(std::int64_t layers_of_largest);
/// Every fourth layer of SmolLM3 turns nothing.
GgufConfigPart no_rope_part();
/// The window of 0 tells newer Phi models in a GGUF file; the config has null.
GgufConfigPart phi3_window_part();
GgufConfigPart falcon_part();
/// GPT-NeoX's name for rope_theta, beside it: after rope_part().
GgufConfigPart neox_base_part();
/// gpt2's and bloom's inner layer is 4 times as wide as the outer where the config does not say.
GgufConfigPart inner_part(const std::string& published);
GgufConfigPart mpt_part();
GgufConfigPart t5_feedforward_part();

}  // namespace attune
