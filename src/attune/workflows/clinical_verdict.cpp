#include "attune/workflows/clinical_verdict.h"

#include <fmt/core.h>

#include <algorithm>

#include "attune/base/error.h"
#include "attune/report/numbers.h"

namespace attune::workflows {

namespace {

using report::fixed;
using report::percent;
using report::Tone;

std::string interval_text(const evaluate::Interval& i) {
  return fmt::format("{} (95 % interval {})", fixed(i.value), report::range(i.low, i.high));
}

std::string signed_fixed(double value) { return (value > 0 ? "+" : "") + fixed(value); }

/// What a comparison with a baseline comes to.
enum class Standing { better, unclear, worse };

Standing standing(const evaluate::Difference& difference) {
  if (difference.first_is_better()) return Standing::better;
  return difference.second_is_better() || difference.macro_f1.value < 0 ? Standing::worse : Standing::unclear;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return out;
}

struct Standings {
  std::vector<std::string> better, unclear, worse;  // names of baselines
  bool beats_all() const { return unclear.empty() && worse.empty(); }
};

Standings standings(const ClinicalReport& report) {
  Standings out;
  for (const auto& one : report.comparisons) {
    check(one.baseline < report.systems.size(), "clinical report: a comparison names system {} of {}", one.baseline,
          report.systems.size());
    const Standing s = standing(one.difference);
    (s == Standing::better  ? out.better
     : s == Standing::worse ? out.worse
                            : out.unclear)
        .push_back("the " + report.systems[one.baseline].name);
  }
  return out;
}

/// "the linear model (0.750; difference +0.060, 95 % interval +0.030 to +0.090)"
std::string comparison_words(const ClinicalReport& report, const ClinicalReport::Comparison& one) {
  const auto& difference = one.difference.macro_f1;
  return fmt::format("the {} ({}; difference {}, 95 % interval {} to {})", report.systems[one.baseline].name,
                     fixed(headline_slice(report).systems[one.baseline].macro_f1.value), signed_fixed(difference.value),
                     signed_fixed(difference.low), signed_fixed(difference.high));
}

/// One line a standing, the bad news first.
std::vector<std::string> comparison_lines(const ClinicalReport& report) {
  std::vector<std::string> lines;
  for (const auto& [wanted, words] : {std::pair{Standing::worse, "It **does not beat** "},
                                      {Standing::unclear, "It is **not clearly better** than "},
                                      {Standing::better, "It **beats** "}}) {
    std::vector<std::string> names;
    for (const auto& one : report.comparisons)
      if (standing(one.difference) == wanted) names.push_back(comparison_words(report, one));
    if (!names.empty()) lines.push_back(words + joined(names) + ".");
  }
  return lines;
}

struct RoutingState {
  bool any = false, within_target = false;
  double error = 0, coverage = 0;
};

RoutingState routing_state(const ClinicalReport& report) {
  RoutingState out;
  if (report.routed.empty() || report.routed[0].documents == 0) return out;
  const auto& all = report.routed[0];
  out.any = all.automatic > 0;
  out.coverage = static_cast<double>(all.automatic) / static_cast<double>(all.documents);
  if (out.any) out.error = static_cast<double>(all.wrong) / static_cast<double>(all.automatic);
  out.within_target = out.any && out.error <= report.calibration.target_error;
  return out;
}

std::string routing_line(const ClinicalReport& report) {
  const RoutingState state = routing_state(report);
  const std::string target = percent(report.calibration.target_error);
  if (!state.any)
    return "**Nothing is answered automatically**: every document goes to a person. " +
           report.calibration.route.statement;
  const auto& all = report.routed[0];
  return fmt::format(
      "Of {} test documents it answers **{}** by itself and leaves {} to a person. Of the automatic ones {} are wrong "
      "(**{}**): {} the target "
      "of {}.",
      report::with_thousands(all.documents), percent(state.coverage), percent(1 - state.coverage),
      report::with_thousands(all.wrong), percent(state.error), state.within_target ? "within" : "**above**", target);
}

std::string best_baseline(const ClinicalReport& report) {
  const auto& slice = headline_slice(report);
  std::size_t best = 1;
  for (std::size_t s = 2; s < slice.systems.size(); ++s)
    if (slice.systems[s].macro_f1.value > slice.systems[best].macro_f1.value) best = s;
  return report.systems[best].name;
}

}  // namespace

const ClinicalReport::Slice& headline_slice(const ClinicalReport& report) {
  for (const auto& slice : report.slices)
    if (slice.name == report.headline_slice) return slice;
  fail("clinical report: there are no figures for \"{}\"", report.headline_slice);
}

report::Verdict clinical_verdict(const ClinicalReport& report) {
  const auto& slice = headline_slice(report);
  const Standings stand = standings(report);
  const RoutingState routing = routing_state(report);
  const bool leaked =
      std::any_of(report.leaks.begin(), report.leaks.end(), [](const auto& one) { return !one.passed; });
  const std::string quality =
      fmt::format("On {} test documents ({}) the Transformer reaches macro-F1 **{}**, accuracy {}.",
                  report::with_thousands(slice.documents), slice.name, interval_text(slice.systems[0].macro_f1),
                  interval_text(slice.systems[0].accuracy));

  report::Verdict out;
  if (leaked) {
    out = {Tone::bad,
           "Not valid",
           "Documents leaked between training and test: no figure below can be trusted.",
           {"See **The data** for what was found. Mend the group fields and run again."}};
  } else if (!stand.worse.empty()) {
    out = {
        Tone::bad,
        "Not better than simpler methods",
        fmt::format("The Transformer does not beat {}.", joined(stand.worse)),
        {fmt::format("Prefer the {} for these documents, or add training data and run again.", best_baseline(report))}};
  } else if (!stand.unclear.empty()) {
    out = {Tone::warn,
           "Caution",
           fmt::format("The Transformer is not clearly better than {}.", joined(stand.unclear)),
           {"The difference could be chance. The simpler method is cheaper to run and to explain."}};
  } else if (!routing.any) {
    out = {Tone::warn, "Caution", "It classifies better than the baselines, but it should not answer by itself.", {}};
  } else if (!routing.within_target) {
    out = {Tone::warn,
           "Caution",
           fmt::format("It answers {} of the documents by itself, but with more errors than the target.",
                       percent(routing.coverage, 0)),
           {"Calibrate again with more validation documents, or with a stricter target."}};
  } else {
    out = {Tone::good,
           "Fit for a supervised trial",
           fmt::format("It answers {} of the documents by itself with {} errors, and knows when to ask a person.",
                       percent(routing.coverage, 0), percent(routing.error)),
           {}};
  }
  out.lines.push_back(quality);
  for (const std::string& line : comparison_lines(report)) out.lines.push_back(line);
  out.lines.push_back(routing_line(report));
  if (report.synthetic)
    out.lines.push_back(
        "These documents are **generated**. The figures show that the method works here, not how it does on yours: run "
        "it "
        "on your own documents before you rely on it.");
  if (report.group_fields.empty())
    out.lines.push_back(
        "The data have **no group field** (patient): documents of one person may lie in training and in test, and "
        "these figures may "
        "be too good. See **What this report cannot show**.");
  return out;
}

std::vector<report::Card> clinical_cards(const ClinicalReport& report) {
  const auto& slice = headline_slice(report);
  const auto& f1 = slice.systems[0].macro_f1;
  const RoutingState routing = routing_state(report);
  std::vector<report::Card> out;
  out.push_back(
      {"Macro-F1, " + slice.name + " test", fixed(f1.value), "95 % interval " + report::range(f1.low, f1.high)});
  if (slice.systems.size() > 1) {
    std::size_t best = 1;
    for (std::size_t s = 2; s < slice.systems.size(); ++s)
      if (slice.systems[s].macro_f1.value > slice.systems[best].macro_f1.value) best = s;
    const auto& other = slice.systems[best].macro_f1;
    out.push_back({"Best baseline: " + report.systems[best].name, fixed(other.value),
                   "95 % interval " + report::range(other.low, other.high)});
  }
  if (!report.routed.empty())
    out.push_back({"Answered automatically", percent(routing.coverage, 0), "the rest goes to a person"});
  out.push_back({"Errors among these", routing.any ? percent(routing.error) : "–",
                 "target " + percent(report.calibration.target_error)});
  return out;
}

}  // namespace attune::workflows
