#pragma once

#include <string>
#include <vector>

#include "attune/base/file.h"
#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench translate`: tokens a second that a Marian of the base size (6 + 6 layers of 512, vocabulary 58,101,
/// random weights) writes with four beams: 32 sources of 5 to 40 tokens, exactly 32 tokens each, in f32 and with
/// linear layers in int8, on one thread and on num_threads(). Throws Error where a source is not given as many.
void translation(const Report& report, const Run& run = {});
std::vector<std::string> translation_names();  // of its cases

/// For peers: the model as it is published (config.json, model.safetensors) and sources.jsonl, a line of ids each, in a
/// new directory.
void write_translation_case(const Path& directory);

}  // namespace attune::bench
