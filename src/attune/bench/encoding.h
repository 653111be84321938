#pragma once

#include <string>
#include <vector>

#include "attune/base/file.h"
#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench encode`: tokens a second of a sentence encoder of MiniLM-L6's sizes (6 layers of 384, random weights)
/// over 1,000 documents of 8 to 256 tokens, 96 on average, each pooled to a normalised vector; in f32, and with linear
/// layers in int8; on one thread and on num_threads(). The limit is the machine's rate of plain multiply-adds, or of
/// bytes' ones.
void encoding(const Report& report, const Run& run = {});
std::vector<std::string> encoding_names();  // of its cases

/// The documents and the model's config, for the peers: minilm.jsonl in a new directory.
void write_encoding_cases(const Path& directory);

}  // namespace attune::bench
