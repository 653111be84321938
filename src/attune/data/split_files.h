#pragma once

#include "attune/base/file.h"
#include "attune/data/documents.h"
#include "attune/data/split.h"

namespace attune {

inline constexpr const char* manifest_name = "split.json";

/// train.jsonl and so on.
std::string file_name_of(Part part);

/// Writes a split into a directory, made where it is missing: train.jsonl, validation.jsonl, test.jsonl,
/// unfamiliar.jsonl (parts that have documents; the files of an earlier split that are not written again are removed)
/// and split.json. The directory's other files stay. Every file is whole or absent, and split.json, which names the
/// others' SHA-256, is written last.
///
/// split.json: data (source, documents, its SHA-256 where it is a file), options, parts (file, documents, labels,
/// groups by field, sha256), groups, held_out, dropped (counts by reason and the documents' ids), warnings, and leaks
/// (the report).
void write_split(const Path& directory, const Documents& documents, const Split& split, const SplitOptions& options,
                 const DocumentFormat& format = {});

}  // namespace attune
