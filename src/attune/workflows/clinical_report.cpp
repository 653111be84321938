#include "attune/workflows/clinical_report.h"

#include "attune/base/error.h"
#include "attune/report/numbers.h"
#include "attune/workflows/clinical_sections.h"
#include "attune/workflows/clinical_verdict.h"

namespace attune::workflows {

namespace {

void check_lengths(const ClinicalReport& report) {
  check(!report.systems.empty() && !report.labels.empty(), "clinical report: no systems or no labels");
  check(!report.slices.empty(), "clinical report: there are no figures");
  for (const auto& slice : report.slices)
    check(slice.systems.size() == report.systems.size(),
          "clinical report: \"{}\" has figures of {} systems, expected {}", slice.name, slice.systems.size(),
          report.systems.size());
  check(report.confusion.size() == report.labels.size(), "clinical report: {} rows of confusion for {} labels",
        report.confusion.size(), report.labels.size());
  for (const auto& part : report.parts)
    check(part.by_label.size() == report.labels.size(), "clinical report: part \"{}\" counts {} labels of {}",
          part.name, part.by_label.size(), report.labels.size());
}

report::Html summary(const ClinicalReport& report) {
  report::Html out = report::cards(clinical_cards(report));
  for (const std::string& warning : report.warnings) out += report::notice(report::Tone::warn, warning);
  out += report::details(
      "Words used on this page",
      report::list({"**Macro-F1**: for each label, how completely and how purely its documents were found (F1, 0 to "
                    "1); the mean over the labels, so "
                    "that rare labels count as much as common ones.",
                    "**95 % interval**: where the figure would lie if other patients of the same kind had been tested, "
                    "from drawing whole patients "
                    "again and again (bootstrap).",
                    "**Familiar test**: new patients, but kinds of documents that training has seen. **Unfamiliar "
                    "test**: no patient, template or source "
                    "in common with training; what a new clinic would be like.",
                    "**Confidence**: the probability that the model gives its own answer, after calibration. "
                    "**Coverage**: the share of "
                    "documents that are answered automatically.",
                    "**Baselines**: simpler methods on the same documents. If they do as well, use them."}));
  return out;
}

}  // namespace

std::string clinical_report_html(const ClinicalReport& report) {
  check_lengths(report);
  report::Page page;
  page.title = report.subject;
  page.subtitle = "Trained, calibrated and tested on " + report.data_name + ". " +
                  report::counted(static_cast<std::int64_t>(report.labels.size()), "label") +
                  ". This page is one file and opens without a network.";
  page.verdict = clinical_verdict(report);
  page.summary = summary(report);
  page.sections = {quality_section(report),  routing_section(report),  calibration_section(report),
                   mistakes_section(report), training_section(report), data_section(report),
                   use_section(report),      limits_section(report)};
  page.footer = (report.program.empty() ? "" : "Made by " + report.program + ". ") +
                (report.data_hash.empty() ? "" : "Data SHA-256 " + report.data_hash + ". ") +
                (report.synthetic ? "" : "This page holds texts of documents: keep it as confidential as they are.");
  return page.html();
}

}  // namespace attune::workflows
