#pragma once

#include "attune/report/page.h"
#include "attune/workflows/clinical_report.h"

namespace attune::workflows {

/// The slice that the verdict is about; throws Error where there is none of that name.
const ClinicalReport::Slice& headline_slice(const ClinicalReport& report);

/// The report's first lines. Bad: a leak check failed, or the Transformer is worse than a baseline. Caution: it is not
/// clearly better than each of them, nothing or too much is answered automatically, or the automatic part missed its
/// target on the test documents. In each case the lines say so plainly and what to do.
report::Verdict clinical_verdict(const ClinicalReport& report);

/// The four figures under the verdict.
std::vector<report::Card> clinical_cards(const ClinicalReport& report);

}  // namespace attune::workflows
