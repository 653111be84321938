#include "attune/workflows/clinical_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"
#include "attune/base/file.h"
#include "attune/base/random.h"
#include "attune/workflows/clinical_verdict.h"

namespace attune::workflows {
namespace {

evaluate::Interval around(double value, double reach) { return {value, value - reach, value + reach}; }

ClinicalReport::Slice slice(const std::string& name, std::int64_t documents, double f1) {
  ClinicalReport::Slice out{.name = name, .documents = documents, .groups = documents / 3, .systems = {}};
  const double reach = 0.6 / std::sqrt(static_cast<double>(documents));
  for (const double value : {f1, f1 - 0.06, f1 - 0.2, 0.08})
    out.systems.push_back({around(value, reach), around(value + 0.02, reach)});
  return out;
}

struct Answered {
  std::vector<double> confidence;
  std::vector<bool> right;
};

Answered made_up_answers(double sharpness, std::uint64_t seed) {
  Answered out;
  RandomStream random(RandomKey{.seed = seed});
  for (int i = 0; i < 600; ++i) {
    const double u = random.uniform();
    out.confidence.push_back(1 - 0.7 * std::pow(u, sharpness));
    out.right.push_back(random.uniform() < 1 - 0.75 * std::pow(u, sharpness));
  }
  return out;
}

void add_routing(ClinicalReport& r) {
  const Answered model = made_up_answers(4, 1), linear = made_up_answers(2.5, 2);
  r.risk_coverage = {{"Transformer", evaluate::risk_coverage(model.confidence, model.right)},
                     {"linear model", evaluate::risk_coverage(linear.confidence, linear.right)}};
  r.calibration.route = evaluate::choose_threshold(model.confidence, model.right, {.target_error = 0.03});
  r.calibration.target_error = 0.03;
  r.calibration.temperature = r.calibration.fitted_temperature = 1.62;
  r.calibration.temperature_reason =
      "temperature 1.620 lowers the validation NLL from 0.4310 to 0.3902 and the ECE from 0.0611 to 0.0214";
  r.calibration.before = {0.431, 0.0611, 0.21}, r.calibration.after = {0.390, 0.0214, 0.19};
  r.calibration.novelty = evaluate::CalibrationContract::Novelty{.threshold = 262.4};
  r.test_before.bins = evaluate::reliability(linear.confidence, linear.right);
  r.test_before.ece = evaluate::expected_calibration_error(r.test_before.bins);
  r.test_after.bins = evaluate::reliability(model.confidence, model.right);
  r.test_after.ece = evaluate::expected_calibration_error(r.test_after.bins);
  r.test_before.nll = 0.45, r.test_after.nll = 0.40, r.test_before.brier = 0.22, r.test_after.brier = 0.2;
  r.routed = {{"all", 640, 404, 9}, {"familiar", 310, 236, 3}, {"unfamiliar", 290, 165, 5}, {"no category", 40, 3, 3}};
  r.review_reasons = {{"confidence below the threshold", 188}, {"unlike the training documents", 37}, {"both", 11}};
  RandomStream random(RandomKey{.seed = 8});
  for (int i = 0; i < 600; ++i) r.known_novelty.push_back(190 + 30 * random.normal());
  for (int i = 0; i < 40; ++i) r.uncategorised_novelty.push_back(i ? 330 + 60 * random.normal() : 4000);
  r.novelty_detection = evaluate::detection(r.known_novelty, r.uncategorised_novelty, 262.4);
}

void add_training(ClinicalReport& r) {
  ClinicalReport::Plot loss{
      .title = "Loss, classification", .y_label = "cross-entropy", .curves = {}, .best = report::Point{900, 0.45}};
  ClinicalReport::Curve train{"training", {}, true}, validation{"validation", {}};
  RandomStream random(RandomKey{.seed = 4});
  for (int i = 1; i <= 1200; ++i) {
    train.points.push_back({double(i), 0.2 + 1.4 * std::exp(-i / 200.0) + 0.1 * random.normal()});
    if (i % 100 == 0) validation.points.push_back({double(i), 0.4 + 1.2 * std::exp(-i / 220.0) + i * 3e-5});
  }
  loss.curves = {train, validation};
  ClinicalReport::Plot pretraining{
      .title = "Loss, masked-token pretraining", .y_label = "cross-entropy", .curves = {train}};
  r.training = {pretraining, loss};
  r.training_facts = {{"architecture", "BERT, 4 layers of 192, 6 heads"},
                      {"parameters", "3.1 million"},
                      {"time", "3 min 41 s on 2 threads"},
                      {"seed", "17"}};
  r.long_policy =
      "Documents beyond 512 tokens are cut into chunks at section boundaries; all chunks are read. 212 of 640 test "
      "documents "
      "needed more than one.";
}

ClinicalReport made_up(const std::string& text = "DISCHARGE SUMMARY\n\nPt adm w/ SOB.\nPlan: cont. furosemide 40 mg.") {
  ClinicalReport r;
  r.subject = "Clinical documents: report", r.data_name = "3,012 bundled documents", r.synthetic = true;
  r.model_directory = "work/model", r.program = "attune 0.1.0";
  r.labels = {"discharge summary", "imaging report", "referral", "medication record", "billing"};
  r.systems = {{"Transformer", "trained here from scratch"},
               {"linear model", "word n-grams, TF-IDF, logistic regression"},
               {"rules", "rules.toml, 43 rules"},
               {"majority", "always the commonest label"}};
  r.slices = {slice("all", 600, 0.87), slice("familiar", 310, 0.92), slice("unfamiliar", 290, 0.81),
              slice("source: Northgate", 90, 0.8), slice("source: St. Brigid", 61, 0.88)};
  r.headline_slice = "unfamiliar";
  r.comparisons = {{1, {around(0.06, 0.03), around(0.05, 0.03)}},
                   {2, {around(0.2, 0.04), around(0.2, 0.03)}},
                   {3, {around(0.73, 0.04), around(0.7, 0.03)}}};
  r.confusion = {{110, 2, 9, 1, 0}, {3, 118, 4, 0, 0}, {12, 3, 101, 0, 2}, {2, 0, 1, 120, 4}, {0, 0, 3, 2, 103}};
  add_routing(r);
  add_training(r);
  const ClinicalReport::Example one{.id = "doc-0412",
                                    .truth = "referral",
                                    .answer = "discharge summary",
                                    .confidence = 0.91,
                                    .route = "automatic",
                                    .reasons = {},
                                    .origin = "source Northgate, template 31",
                                    .tokens = 612,
                                    .chunks = 2,
                                    .text = text};
  r.wrong.assign(20, one);
  r.wrong_total = 48;
  r.wrong_choice = "the most confident first";
  ClinicalReport::Example reviewed = one;
  reviewed.truth = "", reviewed.route = "review";
  reviewed.reasons = {"confidence 0.410 is below 0.873", "novelty 301 is above 262: unlike the training documents"};
  r.review_examples.assign(3, reviewed);
  r.parts = {{"training", 2010, 602, 0, {402, 402, 402, 402, 402}},
             {"validation", 300, 90, 12, {58, 58, 57, 58, 57}},
             {"familiar test", 310, 95, 0, {62, 62, 62, 62, 62}},
             {"unfamiliar test", 290, 88, 40, {58, 58, 58, 58, 58}}};
  r.group_fields = {"patient"};
  r.held_out_fields = {"template", "source"};
  r.leaks = {{"patients in two parts", 0, true, ""},
             {"exact duplicates across parts", 0, true, ""},
             {"near duplicates across parts (MinHash, Jaccard 0.8)", 0, true, "3,041 pairs compared"}};
  r.split_manifest = "work/split/split.json";
  r.data_hash = "9f2c4d0e";
  r.commands = {
      {"Classify new documents:", "attune classify work/model --input new.jsonl --json"},
      {"Measure it on your own labelled documents:", "attune evaluate work/model --data mine.jsonl --by source"}};
  return r;
}

/// Names of elements that are not closed, or closed in the wrong order; empty for well-formed markup.
std::string first_nesting_fault(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "a tag that never ends";
    const std::string inside = html.substr(at + 1, end - at - 1);
    if (inside.find('<') != std::string::npos) return "a '<' inside a tag: " + inside;
    if (inside[0] == '!' || inside.back() == '/') continue;
    if (std::count(inside.begin(), inside.end(), '"') % 2) return "an open quote: " + inside;
    const std::string name = inside.substr(inside[0] == '/', inside.find_first_of(" /", 1) - (inside[0] == '/'));
    if (inside[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != inside.substr(1)) {
      return "</" + inside.substr(1) + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

/// A page with made-up numbers, to be looked at: clinical_report_sample.html beside the test program.
TEST(ClinicalReport, HoldsEverySectionAndIsWellFormed) {
  const std::string html = clinical_report_html(made_up());
  const Path file = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "clinical_report_sample.html";
  write_file_atomically(file, html);
  EXPECT_EQ(first_nesting_fault(html), "");
  for (const char* section :
       {"How good it is", "When it answers by itself", "Whether its confidence can be believed", "Where it goes wrong",
        "How it was trained", "The data", "Use it", "What this report cannot show"})
    EXPECT_NE(html.find(std::string(">") + section + "</a></h2>"), std::string::npos) << section;
  for (const char* part :
       {"Loss, classification", "True label against answer", "Before calibration (test)", "After calibration (test)",
        "by how many are answered", "source: Northgate", "Why documents went to review", "20 of 48 wrong documents",
        "Pt adm w/ SOB.", "Leak report", "work/split/split.json", "attune classify work/model", "generated"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_EQ(html.find("http:", html.find("</style>")), html.find("http://www.w3.org/2000/svg"));
}

TEST(ClinicalReport, HostileTextStaysText) {
  const std::string hostile = "</div></details><script>alert(1)</script><svg onload=\"x\">&amp; \x01\xff **b** `c`";
  ClinicalReport r = made_up(hostile);
  r.subject = r.data_name = r.long_policy = r.split_manifest = r.wrong_choice = hostile;
  r.labels[0] = r.systems[1].name = r.slices[3].name = r.wrong[0].id = r.wrong[0].origin = hostile;
  r.review_examples[0].reasons = {hostile};
  r.commands = {{hostile, hostile}};
  r.leaks[0].what = hostile;
  r.warnings = {hostile};
  r.training[0].title = r.training[0].curves[0].name = hostile;
  const std::string html = clinical_report_html(r);
  EXPECT_EQ(first_nesting_fault(html), "");
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<svg onload"), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
}

std::string first_lines(const ClinicalReport& r) {
  const report::Verdict verdict = clinical_verdict(r);
  return verdict.headline + "\n" + verdict.lines.at(0) + "\n" + verdict.lines.at(1);
}

TEST(ClinicalVerdict, SaysPlainlyThatABaselineIsBetter) {
  ClinicalReport r = made_up();
  r.comparisons[0].difference.macro_f1 = around(-0.05, 0.02);
  const report::Verdict verdict = clinical_verdict(r);
  EXPECT_EQ(verdict.tone, report::Tone::bad);
  EXPECT_EQ(verdict.headline, "The Transformer does not beat the linear model.");
  EXPECT_NE(verdict.lines[0].find("Prefer the linear model"), std::string::npos);
  const std::string html = clinical_report_html(r);
  EXPECT_LT(html.find("The Transformer does not beat the linear model."), html.find("<section"));
}

TEST(ClinicalVerdict, ALowerFigureDoesNotPassAsUnclear) {
  ClinicalReport r = made_up();
  r.comparisons[0].difference.macro_f1 = around(-0.01, 0.05);
  EXPECT_EQ(clinical_verdict(r).headline, "The Transformer does not beat the linear model.");
}

TEST(ClinicalVerdict, ADifferenceThatCouldBeChanceIsNoWin) {
  ClinicalReport r = made_up();
  r.comparisons[0].difference.macro_f1 = around(0.01, 0.05);
  EXPECT_EQ(clinical_verdict(r).tone, report::Tone::warn);
  EXPECT_NE(first_lines(r).find("not clearly better than the linear model"), std::string::npos);
}

TEST(ClinicalVerdict, GoodOnlyWhereRoutingKeepsItsTarget) {
  ClinicalReport r = made_up();
  EXPECT_EQ(clinical_verdict(r).tone, report::Tone::good);
  r.routed[0].wrong = 40;
  EXPECT_EQ(clinical_verdict(r).tone, report::Tone::warn);
  r.routed[0].automatic = r.routed[0].wrong = 0;
  EXPECT_EQ(clinical_verdict(r).tone, report::Tone::warn);
  EXPECT_NE(clinical_verdict(r).headline.find("should not answer by itself"), std::string::npos);
}

TEST(ClinicalVerdict, ALeakMakesEverythingInvalid) {
  ClinicalReport r = made_up();
  r.leaks[1] = {"exact duplicates across parts", 3, false, ""};
  EXPECT_EQ(clinical_verdict(r).word, "Not valid");
  EXPECT_NE(clinical_report_html(r).find("FAILED"), std::string::npos);
}

TEST(ClinicalReport, WithoutGroupFieldsItSaysWhatThatCannotShow) {
  ClinicalReport r = made_up();
  r.group_fields.clear();
  r.held_out_fields.clear();
  r.synthetic = false;
  const std::string html = clinical_report_html(r);
  EXPECT_NE(html.find("There are no group fields."), std::string::npos);
  EXPECT_NE(html.find("no group field</strong> (patient)"), std::string::npos);
  EXPECT_NE(html.find("No source or template was held out."), std::string::npos);
  EXPECT_NE(html.find("keep it as confidential"), std::string::npos);
}

TEST(ClinicalReport, LittleIsEnough) {
  ClinicalReport r;
  r.labels = {"a", "b"}, r.systems = {{"Transformer", ""}};
  r.slices = {{"all", 4, 0, {{around(0.5, 0.1), around(0.5, 0.1)}}}};
  r.confusion = {{1, 1}, {1, 1}};
  EXPECT_EQ(first_nesting_fault(clinical_report_html(r)), "");
}

TEST(ClinicalReport, LengthsThatDoNotFitAreRefused) {
  ClinicalReport r = made_up();
  r.slices[0].systems.pop_back();
  EXPECT_THROW(clinical_report_html(r), Error);
  r = made_up();
  r.confusion.pop_back();
  EXPECT_THROW(clinical_report_html(r), Error);
  r = made_up();
  r.headline_slice = "other";
  EXPECT_THROW(clinical_report_html(r), Error);
  r = made_up();
  r.comparisons[0].baseline = 9;
  EXPECT_THROW(clinical_report_html(r), Error);
}

}  // namespace
}  // namespace attune::workflows
