#pragma once

#include <string>
#include <vector>

#include "attune/base/file.h"
#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench tokenize`: MB/s of the bundled English documents to ids and offsets, with a tokenizer of each kind
/// (8,000 tokens, trained on a part of them), on one thread and on num_threads(), beside the rate of reading as much
/// memory. Words are remembered from document to document, as they are in use.
void tokenization(const Report& report, const Run& run = {});
std::vector<std::string> tokenization_names();  // of its cases

/// For the peers: NAME.json, the tokenizer of each case, and texts.jsonl, the documents.
void write_tokenization_cases(const Path& directory);

}  // namespace attune::bench
