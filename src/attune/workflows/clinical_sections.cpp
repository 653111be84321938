// Quality, routing, calibration and mistakes: what the trained model did on test documents.
#include "attune/workflows/clinical_sections.h"

#include <fmt/core.h>

#include <algorithm>

#include "attune/evaluate/classification.h"
#include "attune/report/confusion_matrix.h"
#include "attune/report/histogram.h"
#include "attune/report/interval_plot.h"
#include "attune/report/line_plot.h"
#include "attune/report/numbers.h"
#include "attune/report/reliability_diagram.h"
#include "attune/report/text.h"

namespace attune::workflows {

namespace {

using report::Align;
using report::fixed;
using report::Html;
using report::percent;
using report::Table;
using report::with_thousands;

double share(std::int64_t part, std::int64_t whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string value_and_interval(const evaluate::Interval& i) {
  return fmt::format("{} [{}, {}]", fixed(i.value), fixed(i.low), fixed(i.high));
}

std::string slice_detail(const ClinicalReport& report, const ClinicalReport::Slice& slice) {
  std::string out = report::counted(slice.documents, "document");
  if (!report.group_fields.empty() && slice.groups > 0)
    out += ", " + with_thousands(slice.groups) + " " + report.group_fields[0] + (slice.groups == 1 ? "" : "s");
  return out;
}

Html forest(const ClinicalReport& report) {
  report::IntervalPlot plot{.title = "Macro-F1 on test documents, with 95 % intervals",
                            .x_label = "Macro-F1 (1 is perfect)",
                            .systems = {},
                            .groups = {},
                            .description = "Macro-F1 of each system by part of the test documents; also in the table."};
  plot.width = 940;
  for (const auto& system : report.systems) plot.systems.push_back(system.name);
  for (const auto& slice : report.slices) {
    report::IntervalPlot::Group group{.name = slice.name, .detail = slice_detail(report, slice)};
    for (std::size_t s = 0; s < slice.systems.size(); ++s) {
      const auto& f1 = slice.systems[s].macro_f1;
      group.estimates.push_back({s, f1.value, f1.low, f1.high});
    }
    plot.groups.push_back(std::move(group));
  }
  return report::figure(
      plot.svg(),
      "Each mark is a system on the same documents; further right is better. Intervals that overlap need not "
      "mean equal systems: the verdict compares them document by document.");
}

Table figures_table(const ClinicalReport& report, bool accuracy) {
  Table table{.columns = {{"test documents", Align::left}, {"number"}}, .rows = {}};
  for (const auto& system : report.systems) table.columns.push_back({system.name});
  for (const auto& slice : report.slices) {
    if (slice.name == report.headline_slice) table.emphasis.push_back(table.rows.size());
    std::vector<std::string> row{slice.name, with_thousands(slice.documents)};
    for (const auto& figures : slice.systems)
      row.push_back(value_and_interval(accuracy ? figures.accuracy : figures.macro_f1));
    table.rows.push_back(std::move(row));
  }
  table.caption = accuracy ? "Accuracy [95 % interval]" : "Macro-F1 [95 % interval]";
  return table;
}

Html threshold_facts(const ClinicalReport& report) {
  const auto& contract = report.calibration;
  std::vector<std::string> rules;
  if (contract.route.threshold)
    rules.push_back(fmt::format("A document is answered automatically where the confidence is **at least {}**",
                                fixed(*contract.route.threshold)));
  else
    rules.push_back("**No document** is answered automatically");
  if (contract.novelty)
    rules.push_back(fmt::format(
        "and its novelty score is **at most {:.3g}** (the {} % point of familiar validation documents; method: {})",
        contract.novelty->threshold, fixed(100 * contract.novelty->share, 0),
        evaluate::novelty_method_name(contract.novelty->method)));
  if (contract.shortest > 0)
    rules.push_back(fmt::format(
        "and it has **at least {} tokens**, as the shortest document of a category that the threshold was chosen on",
        contract.shortest));
  rules.push_back("What was promised when the threshold was chosen: " + contract.route.statement);
  return report::list(rules);
}

Html risk_plot(const ClinicalReport& report) {
  if (report.risk_coverage.empty()) return {};
  report::RiskCoveragePlot plot{.title = "Error among the answered, by how many are answered",
                                .series = {},
                                .target_error = report.calibration.target_error,
                                .description = "Risk over coverage on test documents.",
                                .width = 520,
                                .height = 350};
  for (const auto& curve : report.risk_coverage) {
    report::LineSeries line{curve.name, {}};
    for (const auto& p : curve.points) line.points.push_back({p.coverage, p.risk});
    plot.series.push_back(std::move(line));
  }
  if (!report.routed.empty() && report.routed[0].automatic > 0) {
    const auto& all = report.routed[0];
    const double coverage = share(all.automatic, all.documents), risk = share(all.wrong, all.automatic);
    plot.chosen = report::Mark{{coverage, risk}, fmt::format("used: {} at {}", percent(coverage, 0), percent(risk))};
  }
  return report::figure(plot.svg(),
                        "A model that knows when it is unsure has a curve that stays low for long. The ring is what "
                        "the thresholds in use give; "
                        "it may lie off the curve because the novelty score holds documents back, too.");
}

Html routed_tables(const ClinicalReport& report) {
  Table routed{.columns = {{"part", Align::left}, {"number"}, {"automatic"}, {"share"}, {"wrong"}, {"error"}},
               .rows = {},
               .caption = "What was routed"};
  for (const auto& one : report.routed)
    routed.rows.push_back({one.name, with_thousands(one.documents), with_thousands(one.automatic),
                           percent(share(one.automatic, one.documents)), with_thousands(one.wrong),
                           one.automatic ? percent(share(one.wrong, one.automatic)) : "–"});
  Table why{.columns = {{"reason", Align::left}, {"documents"}}, .rows = {}, .caption = "Why documents went to review"};
  for (const auto& one : report.review_reasons) why.rows.push_back({one.reason, with_thousands(one.documents)});
  return report::columns({report::table(routed), report::table(why)});
}

Html novelty_plot(const ClinicalReport& report) {
  if (report.known_novelty.empty()) return {};
  report::Histogram plot{.title = "Novelty of test documents",
                         .x_label = "Novelty score (further right is less like the training documents)",
                         .series = {{"documents of a known category", report.known_novelty}},
                         .width = 520,
                         .height = 350,
                         .description = "Histogram of novelty scores."};
  if (!report.uncategorised_novelty.empty())
    plot.series.push_back({"documents of no category", report.uncategorised_novelty});
  if (report.calibration.novelty)
    plot.threshold = report::Histogram::Threshold{report.calibration.novelty->threshold, "review beyond this line"};
  // A few very strange documents must not press the rest into one bar: they are counted in the last one.
  std::vector<double> all = report.known_novelty;
  all.insert(all.end(), report.uncategorised_novelty.begin(), report.uncategorised_novelty.end());
  std::sort(all.begin(), all.end());
  double high = evaluate::quantile(all, 0.98);
  if (plot.threshold) high = std::max(high, plot.threshold->at * 1.2);
  if (high > all.front()) plot.x_range = report::widened({all.front(), high});
  std::string caption = "Documents of no category (a menu, an IT notice) should lie right of the line.";
  if (report.novelty_detection) {
    const auto& d = *report.novelty_detection;
    caption +=
        fmt::format(" Here {} of {} do, as do {} of the {} others; AUROC {}.", percent(d.detected, 0),
                    with_thousands(d.novel), percent(d.false_alarms, 0), with_thousands(d.known), fixed(d.auroc));
  }
  return report::figure(plot.svg(), caption);
}

std::string summary_of(const ClinicalReport::Example& one) {
  return fmt::format("{}: {} → answered {} ({}), {}", one.id, one.truth.empty() ? "no category" : one.truth, one.answer,
                     percent(one.confidence, 0), one.route);
}

Html example_block(const ClinicalReport::Example& one) {
  std::string facts = one.origin;
  facts += fmt::format("{}{} read in {}", facts.empty() ? "" : "; ", report::counted(one.tokens, "token"),
                       report::counted(one.chunks, "chunk"));
  Html inside = report::paragraph(facts);
  for (const std::string& reason : one.reasons) inside += report::tag(report::Tone::warn, reason);
  return report::details(summary_of(one), inside + report::document_text(one.text));
}

report::ReliabilityDiagram reliability_plot(const std::string& title, const evaluate::CalibrationFigures& figures) {
  report::ReliabilityDiagram plot{.title = title, .bins = {}, .ece = figures.ece};
  for (const auto& bin : figures.bins)
    plot.bins.push_back({bin.low, bin.high, bin.confidence, bin.accuracy, bin.documents});
  return plot;
}

}  // namespace

report::Section quality_section(const ClinicalReport& report) {
  Html body = forest(report);
  body += report::table(figures_table(report, false));
  body += report::details("The same table for accuracy", report::table(figures_table(report, true)));
  Table systems{.columns = {{"system", Align::left}, {"what it is", Align::left}}, .rows = {}};
  for (const auto& system : report.systems) systems.rows.push_back({system.name, system.description});
  body += report::details("What the systems are", report::table(systems));
  return {
      "How good it is",
      "How well each system finds the right label for documents that it has never seen, compared with simpler methods.",
      body};
}

report::Section routing_section(const ClinicalReport& report) {
  Html body = threshold_facts(report);
  body += routed_tables(report);
  body += report::columns({risk_plot(report), novelty_plot(report)});
  if (!report.review_examples.empty()) {
    body += report::subheading("Some documents that were left to a person, with the reasons");
    for (const auto& one : report.review_examples) body += example_block(one);
  }
  return {"When it answers by itself",
          "It may answer automatically where it is sure and the document is of a kind that it knows; everything else "
          "goes to a person.",
          body};
}

report::Section calibration_section(const ClinicalReport& report) {
  const auto& c = report.calibration;
  Html body =
      report::prose(c.temperature_reason.empty() ? "The scores were not calibrated."
                                                 : "On the validation documents: " + c.temperature_reason + ".");
  Table table{.columns = {{"", Align::left}, {"ECE"}, {"Brier"}, {"NLL"}}, .rows = {}, .caption = "Lower is better"};
  auto row = [&](const std::string& name, double ece, double brier, double nll) {
    table.rows.push_back({name, percent(ece), fixed(brier), fixed(nll)});
  };
  row("validation, before", c.before.ece, c.before.brier, c.before.nll);
  row("validation, after", c.after.ece, c.after.brier, c.after.nll);
  if (!report.test_before.bins.empty() && !report.test_after.bins.empty()) {
    row("test, before", report.test_before.ece, report.test_before.brier, report.test_before.nll);
    row("test, after", report.test_after.ece, report.test_after.brier, report.test_after.nll);
    if (!c.kept_identity && report.test_after.ece > report.test_before.ece)
      body += report::notice(
          report::Tone::warn,
          "On the test documents calibration made the ECE **worse**, although it helped on validation: the "
          "test documents differ from those that it was fitted on.");
    body += report::columns({report::figure(reliability_plot("Before calibration (test)", report.test_before).svg()),
                             report::figure(reliability_plot("After calibration (test)", report.test_after).svg())});
  }
  body += report::table(table);
  body += report::details("What these figures are",
                          report::list({"**ECE**: mean gap between stated confidence and share of right answers, over "
                                        "15 bins of confidence (Guo et al. 2017).",
                                        "**Brier**: squared distance between the probabilities and the truth, 0 to 2.",
                                        "**NLL**: negative log-likelihood of the truth, in nats."}));
  return {"Whether its confidence can be believed",
          "When it says 90 %, nine of ten such answers should be right: blue bars should reach the dashed line.", body};
}

report::Section mistakes_section(const ClinicalReport& report) {
  const bool few_labels = report.labels.size() <= 8;
  const report::ConfusionMatrix matrix{.title = "True label against answer",
                                       .labels = report.labels,
                                       .counts = report.confusion,
                                       .width = few_labels ? 540.0 : 960.0};
  const Html drawn = report::figure(
      matrix.svg(), "A row is a true label; percentages are of the row. Blue is right, orange is wrong.");
  const auto figures = evaluate::classification(report.confusion, evaluate::Classes::all);
  Table table{.columns = {{"label", Align::left}, {"documents"}, {"precision"}, {"recall"}, {"F1"}}, .rows = {}};
  for (std::size_t l = 0; l < report.labels.size(); ++l) {
    const auto& one = figures.per_class[l];
    table.rows.push_back(
        {report.labels[l], with_thousands(one.support), fixed(one.precision), fixed(one.recall), fixed(one.f1)});
  }
  Html body = few_labels ? report::columns({drawn, report::table(table)}) : drawn + report::table(table);
  if (!report.wrong.empty()) {
    body += report::subheading(fmt::format("{} of {} wrong documents, with their text", report.wrong.size(),
                                           with_thousands(report.wrong_total)));
    body += report::paragraph("Chosen: " + report.wrong_choice + ". Open one to read it.");
    for (const auto& one : report.wrong) body += example_block(one);
  } else {
    body += report::paragraph("No test document was answered wrongly.");
  }
  return {"Where it goes wrong", "Which labels it takes for which, and what such documents look like.", body};
}

}  // namespace attune::workflows
