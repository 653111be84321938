#pragma once

#include <string>

#include "attune/base/json.h"
#include "attune/workflows/clinical_report.h"

namespace attune::workflows {

/// The figures of a report as evaluation.json holds them: slices (documents, groups, and of each system macro-F1 and
/// accuracy with 95 % intervals), comparisons, calibration on test documents, routing, novelty.
Json evaluation_record(const ClinicalReport& report);

/// Such a record as a table for a terminal: macro-F1 with its interval by slice and system (`headline_only`: all,
/// familiar and unfamiliar alone), then the automatic part and the novelty score in words.
std::string evaluation_table(const Json& record, bool headline_only);

}  // namespace attune::workflows
