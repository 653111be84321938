#include "attune/workflows/clinical_results.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "attune/base/error.h"
#include "attune/evaluate/classification.h"

namespace attune::workflows {

namespace {

using Indices = std::vector<std::size_t>;

constexpr std::size_t wrong_shown = 20, reviewed_shown_for_each_reason = 3;

/// What the Transformer answers after calibration, and what becomes of it.
struct Decided {
  std::vector<int> answers;
  std::vector<double> confidence;
  std::vector<evaluate::Route> routes;
};

Decided decide(const ClinicalReport& report, const TestRun& run) {
  const auto probabilities = evaluate::softmax(run.logits, report.calibration.temperature);
  Decided out{evaluate::top_class(probabilities), evaluate::top_score(probabilities), {}};
  for (std::size_t i = 0; i < run.documents.size(); ++i)
    out.routes.push_back(
        evaluate::route(report.calibration, {out.confidence[i], run.documents[i].novelty, run.documents[i].tokens}));
  return out;
}

template <class T>
std::vector<T> picked(const std::vector<T>& all, const Indices& of) {
  std::vector<T> out;
  for (const std::size_t i : of) out.push_back(all[i]);
  return out;
}

/// Documents with a category in one slice, with the answers of every system.
struct SliceAnswers {
  Indices documents;
  std::vector<int> truth;
  std::vector<std::vector<int>> answers;  // [systems][documents]
  evaluate::Groups groups;
};

SliceAnswers slice_answers(const TestRun& run, const std::vector<int>& transformer, const Indices& documents) {
  SliceAnswers out{.documents = documents, .truth = {}, .answers = {}, .groups = {}};
  std::vector<std::string> groups;
  for (const std::size_t i : documents) {
    out.truth.push_back(run.documents[i].truth);
    groups.push_back(run.documents[i].group);
  }
  out.groups = evaluate::Groups::by_name(groups);
  out.answers.push_back(picked(transformer, documents));
  for (const auto& baseline : run.baselines) out.answers.push_back(picked(baseline.answers, documents));
  return out;
}

/// "all", then the plain names ("familiar"), then those of a field ("source: Northgate"), each in alphabetical order.
std::vector<std::pair<std::string, Indices>> slices_of(const TestRun& run, bool with_uncategorised) {
  std::map<std::pair<bool, std::string>, Indices> named;
  Indices all;
  for (std::size_t i = 0; i < run.documents.size(); ++i) {
    const TestDocument& document = run.documents[i];
    if (document.truth < 0 && !with_uncategorised) continue;
    all.push_back(i);
    for (const std::string& name : document.slices) named[{name.find(": ") != std::string::npos, name}].push_back(i);
  }
  std::vector<std::pair<std::string, Indices>> out{{"all", all}};
  for (auto& [key, documents] : named) out.emplace_back(key.second, std::move(documents));
  return out;
}

void add_quality(ClinicalReport& report, const TestRun& run, const Decided& decided,
                 const evaluate::BootstrapOptions& options) {
  const int labels = static_cast<int>(report.labels.size());
  const auto slices = slices_of(run, false);
  check(!slices[0].second.empty(), "test results: none of the {} documents has a category", run.documents.size());
  report.headline_slice = "all";
  for (const auto& [name, documents] : slices)
    if (name == "unfamiliar") report.headline_slice = name;
  for (const auto& [name, documents] : slices) {
    const SliceAnswers slice = slice_answers(run, decided.answers, documents);
    ClinicalReport::Slice out{.name = name,
                              .documents = static_cast<std::int64_t>(documents.size()),
                              .groups = slice.groups.count,
                              .systems = {}};
    for (const auto& answers : slice.answers) {
      const evaluate::Answers given{slice.truth, answers, labels};
      out.systems.push_back({evaluate::macro_f1_interval(given, slice.groups, options),
                             evaluate::accuracy_interval(given, slice.groups, options)});
    }
    report.slices.push_back(std::move(out));
    if (name == "all") report.confusion = evaluate::classification(slice.truth, slice.answers[0], labels).confusion;
    if (name != report.headline_slice) continue;
    const evaluate::Answers transformer{slice.truth, slice.answers[0], labels};
    for (std::size_t s = 1; s < slice.answers.size(); ++s)
      report.comparisons.push_back(
          {s, evaluate::difference(transformer, {slice.truth, slice.answers[s], labels}, slice.groups, options)});
  }
}

void add_calibration(ClinicalReport& report, const TestRun& run) {
  evaluate::ScoreTable logits;
  std::vector<int> truth;
  for (std::size_t i = 0; i < run.documents.size(); ++i) {
    if (run.documents[i].truth < 0) continue;
    logits.add_row(run.logits.row(static_cast<std::int64_t>(i)));
    truth.push_back(run.documents[i].truth);
  }
  report.test_before = evaluate::calibration_figures(evaluate::softmax(logits), truth);
  report.test_after = evaluate::calibration_figures(evaluate::softmax(logits, report.calibration.temperature), truth);
}

std::vector<bool> right(const TestRun& run, const std::vector<int>& answers) {
  std::vector<bool> out;
  for (std::size_t i = 0; i < answers.size(); ++i) out.push_back(answers[i] == run.documents[i].truth);
  return out;
}

ClinicalReport::Routed routed(const std::string& name, const TestRun& run, const Decided& decided, const Indices& of) {
  ClinicalReport::Routed out{.name = name, .documents = static_cast<std::int64_t>(of.size())};
  for (const std::size_t i : of) {
    if (!decided.routes[i].automatic()) continue;
    ++out.automatic;
    out.wrong += decided.answers[i] != run.documents[i].truth;
  }
  return out;
}

std::string in_words(evaluate::ReviewReason reason) {
  switch (reason) {
    case evaluate::ReviewReason::low_confidence:
      return "too unsure (confidence below the threshold)";
    case evaluate::ReviewReason::novel:
      return "too unlike the training documents (novelty above the threshold)";
    case evaluate::ReviewReason::too_short:
      return "shorter than any document it was calibrated on";
    case evaluate::ReviewReason::no_threshold:
      return "no threshold keeps the target error";
  }
  return "";
}

std::string reasons_in_words(const evaluate::Route& route) {
  std::string words;
  for (const auto& because : route.reasons) words += (words.empty() ? "" : ", and ") + in_words(because.reason);
  return words;
}

void add_routing(ClinicalReport& report, const TestRun& run, const Decided& decided) {
  for (const auto& [name, documents] : slices_of(run, true))
    report.routed.push_back(routed(name, run, decided, documents));
  Indices uncategorised;
  std::map<std::string, std::int64_t> reasons;
  for (std::size_t i = 0; i < run.documents.size(); ++i) {
    const TestDocument& document = run.documents[i];
    if (document.truth < 0) uncategorised.push_back(i);
    if (!decided.routes[i].automatic()) ++reasons[reasons_in_words(decided.routes[i])];
    if (document.novelty)
      (document.truth < 0 ? report.uncategorised_novelty : report.known_novelty).push_back(*document.novelty);
  }
  if (!uncategorised.empty()) report.routed.push_back(routed("of no category", run, decided, uncategorised));
  for (const auto& [reason, documents] : reasons) report.review_reasons.push_back({reason, documents});
  std::stable_sort(report.review_reasons.begin(), report.review_reasons.end(),
                   [](const auto& a, const auto& b) { return a.documents > b.documents; });
  if (report.calibration.novelty && !report.known_novelty.empty() && !report.uncategorised_novelty.empty())
    report.novelty_detection =
        evaluate::detection(report.known_novelty, report.uncategorised_novelty, report.calibration.novelty->threshold);
  report.risk_coverage.push_back(
      {report.systems[0].name, evaluate::risk_coverage(decided.confidence, right(run, decided.answers))});
  for (std::size_t b = 0; b < run.baselines.size(); ++b)
    if (!run.baselines[b].confidence.empty())
      report.risk_coverage.push_back(
          {report.systems[b + 1].name,
           evaluate::risk_coverage(run.baselines[b].confidence, right(run, run.baselines[b].answers))});
}

ClinicalReport::Example example(const ClinicalReport& report, const TestRun& run, const Decided& decided,
                                std::size_t i) {
  const TestDocument& document = run.documents[i];
  ClinicalReport::Example out{
      .id = document.id,
      .truth = document.truth < 0 ? "" : report.labels[static_cast<std::size_t>(document.truth)],
      .answer = report.labels[static_cast<std::size_t>(decided.answers[i])],
      .confidence = decided.confidence[i],
      .route = decided.routes[i].automatic() ? "automatic" : "review",
      .reasons = {},
      .origin = document.origin,
      .tokens = document.tokens,
      .chunks = document.chunks,
      .text = document.text};
  for (const auto& because : decided.routes[i].reasons) out.reasons.push_back(because.words);
  return out;
}

void add_examples(ClinicalReport& report, const TestRun& run, const Decided& decided) {
  Indices wrong;
  std::map<std::string, std::size_t> reviewed;
  for (std::size_t i = 0; i < run.documents.size(); ++i) {
    const bool automatic = decided.routes[i].automatic(), categorised = run.documents[i].truth >= 0;
    if (decided.answers[i] != run.documents[i].truth && (categorised || automatic)) wrong.push_back(i);
    if (!automatic && reviewed[reasons_in_words(decided.routes[i])]++ < reviewed_shown_for_each_reason)
      report.review_examples.push_back(example(report, run, decided, i));
  }
  report.wrong_total = static_cast<std::int64_t>(wrong.size());
  report.wrong_choice =
      "those answered automatically first, then the most confident; an automatic answer to a document of no category "
      "counts as wrong";
  std::stable_sort(wrong.begin(), wrong.end(), [&](std::size_t a, std::size_t b) {
    const bool a_automatic = decided.routes[a].automatic(), b_automatic = decided.routes[b].automatic();
    return a_automatic != b_automatic ? a_automatic : decided.confidence[a] > decided.confidence[b];
  });
  wrong.resize(std::min(wrong.size(), wrong_shown));
  for (const std::size_t i : wrong) report.wrong.push_back(example(report, run, decided, i));
}

void check_lengths(const ClinicalReport& report, const TestRun& run) {
  const auto documents = run.documents.size();
  check(documents > 0, "test results: there is no test document");
  check(run.logits.rows() == static_cast<std::int64_t>(documents) &&
            run.logits.width == static_cast<std::int64_t>(report.labels.size()),
        "test results: logits of {} documents and {} labels, expected {} and {}", run.logits.rows(), run.logits.width,
        documents, report.labels.size());
  check(run.baselines.size() + 1 == report.systems.size(), "test results: {} baselines for {} systems",
        run.baselines.size(), report.systems.size());
  for (const auto& baseline : run.baselines)
    check(baseline.answers.size() == documents &&
              (baseline.confidence.empty() || baseline.confidence.size() == documents),
          "test results: a baseline answered {} of {} documents", baseline.answers.size(), documents);
  for (const TestDocument& document : run.documents)
    check(document.truth >= -1 && document.truth < run.logits.width,
          "test results: document \"{}\" has the label number {}", document.id, document.truth);
}

}  // namespace

void add_test_results(ClinicalReport& report, const TestRun& run, const evaluate::BootstrapOptions& options) {
  check_lengths(report, run);
  const Decided decided = decide(report, run);
  add_quality(report, run, decided, options);
  add_calibration(report, run);
  add_routing(report, run, decided);
  add_examples(report, run, decided);
}

}  // namespace attune::workflows
