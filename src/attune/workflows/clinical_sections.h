#pragma once

#include "attune/report/page.h"
#include "attune/workflows/clinical_report.h"

namespace attune::workflows {

/// The sections of the clinical report, in the page's order; each is made from the parts of the report that it shows.
report::Section quality_section(const ClinicalReport& report);
report::Section routing_section(const ClinicalReport& report);
report::Section calibration_section(const ClinicalReport& report);
report::Section mistakes_section(const ClinicalReport& report);
report::Section training_section(const ClinicalReport& report);
report::Section data_section(const ClinicalReport& report);
report::Section use_section(const ClinicalReport& report);
report::Section limits_section(const ClinicalReport& report);

}  // namespace attune::workflows
