#pragma once

#include <vector>

#include "attune/base/file.h"
#include "attune/data/example.h"

namespace attune {

/// Reads JSON lines of ids: {"ids":[..], "token_type_ids":[..], "decoder_ids":[..], "labels":[..]}, all but "ids"
/// optional, each id a whole number of 0 or more (labels: or -100). Throws Error naming the line and the key.
/// `lines` gets the line of each in the file, from 1.
std::vector<Example> read_examples(const Path& path, std::vector<std::int64_t>* lines = nullptr);

/// Whether the file's first line is such a line: then it needs no tokenizer.
bool holds_examples(const Path& path);

}  // namespace attune
