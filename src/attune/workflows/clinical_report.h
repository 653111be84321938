#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attune/evaluate/bootstrap.h"
#include "attune/evaluate/calibration.h"
#include "attune/evaluate/calibration_contract.h"
#include "attune/report/svg.h"

namespace attune::workflows {

/// Everything that the clinical workflow's report shows, as plain values: the workflow fills it, clinical_report_html()
/// lays it out. Lists that are empty leave their part of the page out, except where the page must say that something is
/// missing.
struct ClinicalReport {
  std::string subject = "Document classifier";  // the page's title
  std::string data_name;                        // file or bundled example
  bool synthetic = false;                       // the bundled, generated documents
  std::string model_directory;                  // for the commands of "Use it"
  std::string program;                          // "attune 0.1.0", for the footer
  std::vector<std::string> labels;

  /// Systems in one order everywhere: the Transformer first, then the baselines.
  struct System {
    std::string name;
    std::string description;  // "word n-grams, TF-IDF, logistic regression"
  };
  std::vector<System> systems;

  // ---- Quality on test documents ----
  struct SystemFigures {
    evaluate::Interval macro_f1, accuracy;
  };
  struct Slice {
    std::string name;  // "all", "familiar", "unfamiliar", "source: Northgate"
    std::int64_t documents = 0, groups = 0;
    std::vector<SystemFigures> systems = {};  // as in ClinicalReport::systems
  };
  std::vector<Slice> slices;
  std::string headline_slice = "all";  // "unfamiliar" where there is one: what the verdict is about

  struct Comparison {  // Transformer minus a baseline on headline_slice, same documents
    std::size_t baseline = 1;
    evaluate::Difference difference = {};
  };
  std::vector<Comparison> comparisons;

  std::vector<std::vector<std::int64_t>> confusion;  // [truth][answer] of the Transformer, documents with a category

  // ---- Calibration and routing ----
  evaluate::CalibrationContract calibration;
  evaluate::CalibrationFigures test_before, test_after;  // on test documents; empty bins where not measured

  struct NamedCurve {
    std::string name;
    std::vector<evaluate::RiskPoint> points = {};  // on test documents
  };
  std::vector<NamedCurve> risk_coverage;

  struct Routed {
    std::string name;                                      // a slice, or "no category"
    std::int64_t documents = 0, automatic = 0, wrong = 0;  // wrong: of the automatic ones
  };
  std::vector<Routed> routed;  // the first one is all test documents
  struct ReasonCount {
    std::string reason = {};  // in words for people
    std::int64_t documents = 0;
  };
  std::vector<ReasonCount> review_reasons;
  std::vector<double> known_novelty, uncategorised_novelty;  // scores of test documents with and without a category
  std::optional<evaluate::Detection> novelty_detection;

  struct Example {
    std::string id, truth, answer;  // truth "" for a document of no category
    double confidence = 0;
    std::string route = {};                 // "automatic" or "review"
    std::vector<std::string> reasons = {};  // in words
    std::string origin = {};                // "source Northgate, template 12, unfamiliar"
    std::int64_t tokens = 0, chunks = 0;
    std::string text = {};
  };
  std::vector<Example> review_examples;  // some documents that were left to a person
  std::vector<Example> wrong;            // the documents to show; the page says out of how many
  std::int64_t wrong_total = 0;
  std::string wrong_choice;  // how they were chosen: "the most confident first"

  // ---- Training ----
  struct Curve {
    std::string name;
    std::vector<report::Point> points = {};  // x: step
    bool smoothed = false;                   // shown as a moving mean
  };
  struct Plot {
    std::string title, y_label;
    std::vector<Curve> curves = {};
    std::optional<report::Point> best = {};
  };
  std::vector<Plot> training;
  struct Fact {
    std::string name, value;
  };
  std::vector<Fact> training_facts;  // architecture, parameters, seconds, tokens a second, seed, ...
  std::string long_policy;           // what happens to documents longer than the model reads at once

  // ---- Data ----
  struct Part {
    std::string name;  // "training", "validation", "familiar test", "unfamiliar test"
    std::int64_t documents = 0, groups = 0, uncategorised = 0;
    std::vector<std::int64_t> by_label = {};  // as in `labels`
  };
  std::vector<Part> parts;
  std::vector<std::string> group_fields;     // empty: split by id alone
  std::vector<std::string> held_out_fields;  // "template", "source"
  struct LeakCheck {
    std::string what = {};  // "patients on two sides"
    std::int64_t found = 0;
    bool passed = true;
    std::string note = "";
  };
  std::vector<LeakCheck> leaks;
  std::string split_manifest, data_hash;

  std::vector<Fact> commands;         // name: what it does; value: the command line
  std::vector<std::string> warnings;  // of the run, shown under the verdict
};

/// The whole page, one offline file. Throws Error where lengths do not fit together (estimates per system, confusion
/// per label).
std::string clinical_report_html(const ClinicalReport& report);

}  // namespace attune::workflows
