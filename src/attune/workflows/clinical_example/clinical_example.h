#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "attune/data/documents.h"

namespace attune {

/// About 3,000 invented clinical documents of five categories and some of none, the same bytes for the same seed on any
/// machine. Each has the fields patient, source, template, date (ISO 8601) and language (en-GB, en-US, en-ES). How they
/// are made, and what they can not stand for: docs/clinical-example.md.
///   labels       discharge_summary, imaging_report, referral, medication_record, billing_correspondence, or none
///   unfamiliar   eight template families, one source and the patients seen there occur with each other alone, so that
///   the
///                connected components over (patient, template, source) are the familiar and the unfamiliar part
std::vector<Document> clinical_documents(std::uint64_t seed = 1);

/// rules.toml of the example: what the rules baseline reads (baseline/rules.h).
std::string_view clinical_rules();

/// Writes the example: documents.jsonl, run.toml (how to train on them), rules.toml (rules to edit), README.md (the
/// next command). The directory appears whole or not at all; an existing one is replaced.
void write_clinical_example(const Path& directory, std::uint64_t seed = 1);

}  // namespace attune
