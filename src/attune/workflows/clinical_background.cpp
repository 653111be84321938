// Training, data, use and limits: the sections of the clinical report behind its figures.
#include <fmt/core.h>

#include <algorithm>

#include "attune/report/line_plot.h"
#include "attune/report/numbers.h"
#include "attune/workflows/clinical_sections.h"

namespace attune::workflows {

namespace {

using report::Align;
using report::Html;
using report::Table;
using report::with_thousands;

/// Mean over a window of a sixtieth of the points around each.
std::vector<report::Point> moving_mean(const std::vector<report::Point>& points) {
  const auto n = static_cast<std::int64_t>(points.size());
  const std::int64_t reach = n / 120;
  std::vector<report::Point> out;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t begin = std::max<std::int64_t>(0, i - reach), end = std::min(n, i + reach + 1);
    double sum = 0;
    for (std::int64_t k = begin; k < end; ++k) sum += points[static_cast<std::size_t>(k)].y;
    out.push_back({points[static_cast<std::size_t>(i)].x, sum / static_cast<double>(end - begin)});
  }
  return out;
}

Html training_plot(const ClinicalReport::Plot& given) {
  report::LinePlot plot{.title = given.title,
                        .x_label = "step (one update of the weights)",
                        .y_label = given.y_label,
                        .series = {},
                        .width = 560,
                        .height = 320,
                        .description = given.title + " over training steps."};
  bool smoothed = false;
  for (const auto& curve : given.curves) {
    plot.series.push_back({curve.name, curve.smoothed ? moving_mean(curve.points) : curve.points});
    smoothed |= curve.smoothed;
  }
  if (given.best)
    plot.marks.push_back(
        {*given.best, fmt::format("kept: step {}", with_thousands(static_cast<std::int64_t>(given.best->x)))});
  return report::figure(plot.svg(), smoothed ? "Losses of single steps are shown as moving means." : "");
}

Html facts_table(const std::vector<ClinicalReport::Fact>& facts) {
  Table table{.columns = {{"", Align::left}, {"", Align::left}}, .rows = {}};
  for (const auto& fact : facts) table.rows.push_back({fact.name, fact.value});
  return report::table(table);
}

std::string joined(const std::vector<std::string>& names, const std::string& between) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : between) + name;
  return out;
}

}  // namespace

report::Section training_section(const ClinicalReport& report) {
  std::vector<Html> plots;
  for (const auto& plot : report.training) plots.push_back(training_plot(plot));
  Html body;
  if (!plots.empty()) body += report::columns(plots);
  if (!report.long_policy.empty()) body += report::prose("**Long documents.** " + report.long_policy);
  if (!report.training_facts.empty()) body += facts_table(report.training_facts);
  return {"How it was trained",
          "The loss should fall and then level off; where the validation curve turns, training has gone on too long.",
          body};
}

report::Section data_section(const ClinicalReport& report) {
  const bool grouped = !report.group_fields.empty();
  Table parts{.columns = {{"part", Align::left}, {"documents"}}, .rows = {}};
  if (grouped) parts.columns.push_back({joined(report.group_fields, ", ") + " groups"});
  for (const std::string& label : report.labels) parts.columns.push_back({label});
  parts.columns.push_back({"no category"});
  for (const auto& part : report.parts) {
    std::vector<std::string> row{part.name, with_thousands(part.documents)};
    if (grouped) row.push_back(with_thousands(part.groups));
    for (const std::int64_t n : part.by_label) row.push_back(with_thousands(n));
    row.push_back(with_thousands(part.uncategorised));
    parts.rows.push_back(std::move(row));
  }
  std::string how = grouped ? "No " + joined(report.group_fields, " or ") + " lies in two parts"
                            : "The documents were divided by id alone";
  if (!report.held_out_fields.empty())
    how += "; the unfamiliar test shares no " + joined(report.held_out_fields, " or ") + " with training";
  Html body = report::prose(how + ".");
  body += report::table(parts);

  Table leaks{.columns = {{"check", Align::left}, {"found"}, {"result", Align::left}, {"", Align::left}},
              .rows = {},
              .caption = "Leak report"};
  for (const auto& one : report.leaks)
    leaks.rows.push_back({one.what, with_thousands(one.found), one.passed ? "passed" : "FAILED", one.note});
  body += report.leaks.empty() ? report::notice(report::Tone::warn, "No leak check was made.") : report::table(leaks);
  if (!report.split_manifest.empty())
    body += report::prose("Which document went where: `" + report.split_manifest + "`.");
  return {"The data", "What the model learned from, what it was tested on, and that the two were kept apart.", body};
}

report::Section use_section(const ClinicalReport& report) {
  Html body;
  for (const auto& command : report.commands) body += report::prose(command.name) + report::code_block(command.value);
  body +=
      report::list({"Each result has `route` (`automatic` or `review`), the `reasons`, the calibrated `confidence`, "
                    "the `novelty` and how many `tokens` and `chunks` "
                    "were read. Act on `automatic` results only, and have people check a sample of them all the same.",
                    "Calibrate again when documents change: a new source, a new template, a new kind of document.",
                    "The promise about errors holds for documents like those that it was calibrated on, not for any "
                    "that may come."});
  return {"Use it", "The model is a directory; these commands work on it as it is.", body};
}

report::Section limits_section(const ClinicalReport& report) {
  std::vector<std::string> limits;
  if (report.synthetic)
    limits.push_back(
        "**The documents are generated** from templates with varied wording. Real documents are odder: their errors, "
        "mixtures and layouts are "
        "not in here, and neither are your labels' borderline cases. The figures do not carry over to real documents.");
  if (report.group_fields.empty())
    limits.push_back(
        "**There are no group fields.** Documents of one patient, or copies of one letter, may be in training and in "
        "test. The figures may be too good, "
        "the intervals too narrow (they treat documents as independent), and nothing can be said about new patients. "
        "Give "
        "`--group patient` if the data have such a field.");
  if (report.held_out_fields.empty())
    limits.push_back(
        "**No source or template was held out.** How it does on documents of a kind that it has never seen is not "
        "measured here.");
  limits.push_back(
      "**Nothing is said about harm.** A wrong label costs more for some documents than for others; weigh that before "
      "automatic use.");
  limits.push_back(
      "**The labels are taken as true.** Where people disagree about a label, no figure here can be better than they "
      "are.");
  limits.push_back(
      "**Small groups have wide intervals.** A source with few documents may look good or bad by chance; read the "
      "interval, not the mark.");
  return {"What this report cannot show", "", report::list(limits)};
}

}  // namespace attune::workflows
