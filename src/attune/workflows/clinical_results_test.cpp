#include "attune/workflows/clinical_results.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"
#include "attune/workflows/clinical_verdict.h"

namespace attune::workflows {
namespace {

/// Two labels, six documents; the Transformer's confidence is 1 / (1 + exp(-|z0 - z1|)).
struct Made {
  ClinicalReport report;
  TestRun run;

  void add(const std::string& slice, int truth, double z0, double novelty) {
    const std::string id = "d" + std::to_string(run.documents.size());
    run.documents.push_back({.id = id,
                             .text = "text of " + id,
                             .group = "p" + std::to_string(run.documents.size() / 2),
                             .slices = {slice, "source: A"},
                             .origin = "",
                             .truth = truth,
                             .tokens = 10,
                             .chunks = 1,
                             .novelty = novelty});
    run.logits.add_row(std::vector<double>{z0, 0});
  }
};

Made made() {
  Made m;
  m.report.labels = {"a", "b"};
  m.report.systems = {{"Transformer", ""}, {"rules", ""}};
  m.report.calibration.route.threshold = 0.9;
  m.report.calibration.route.assurance = evaluate::Assurance::empirical;
  m.report.calibration.novelty = evaluate::CalibrationContract::Novelty{.threshold = 5};
  m.add("familiar", 0, 4, 1);     // right, automatic
  m.add("familiar", 1, 3, 1);     // wrong, automatic (0.953)
  m.add("familiar", 1, -1, 1);    // right, unsure
  m.add("unfamiliar", 0, -2, 9);  // wrong, unsure and novel
  m.add("unfamiliar", 0, 5, 9);   // right, novel
  m.add("unfamiliar", -1, 6, 2);  // of no category, automatic
  m.run.baselines = {{.answers = {0, 1, 1, 0, 0, 0}}};
  return m;
}

TEST(ClinicalResults, RoutingByHand) {
  Made m = made();
  add_test_results(m.report, m.run);
  ASSERT_EQ(m.report.routed.size(), 5u);  // all, familiar, unfamiliar, source: A, of no category
  EXPECT_EQ(m.report.routed[0].documents, 6);
  EXPECT_EQ(m.report.routed[0].automatic, 3);
  EXPECT_EQ(m.report.routed[0].wrong, 2);
  EXPECT_EQ(m.report.routed[1].name, "familiar");
  EXPECT_EQ(m.report.routed[1].automatic, 2);
  EXPECT_EQ(m.report.routed[3].name, "source: A");
  EXPECT_EQ(m.report.routed[4].automatic, 1);
  EXPECT_EQ(m.report.routed[4].wrong, 1);
  ASSERT_EQ(m.report.review_reasons.size(), 3u);
  for (const auto& reason : m.report.review_reasons) EXPECT_EQ(reason.documents, 1) << reason.reason;
  EXPECT_EQ(m.report.novelty_detection->novel, 1);
}

TEST(ClinicalResults, QualityLeavesDocumentsOfNoCategoryOut) {
  Made m = made();
  add_test_results(m.report, m.run);
  EXPECT_EQ(m.report.headline_slice, "unfamiliar");
  EXPECT_EQ(m.report.slices[0].documents, 5);
  EXPECT_DOUBLE_EQ(m.report.slices[0].systems[0].accuracy.value, 3.0 / 5);
  EXPECT_DOUBLE_EQ(m.report.slices[0].systems[1].accuracy.value, 1);
  EXPECT_EQ(m.report.slices[2].documents, 2);
  EXPECT_EQ(m.report.confusion, (std::vector<std::vector<std::int64_t>>{{2, 1}, {1, 1}}));
  ASSERT_EQ(m.report.comparisons.size(), 1u);
  EXPECT_LT(m.report.comparisons[0].difference.accuracy.value, 0);
  EXPECT_EQ(clinical_verdict(m.report).headline, "The Transformer does not beat the rules.");
}

TEST(ClinicalResults, WrongDocumentsBeginWithTheAutomaticOnes) {
  Made m = made();
  add_test_results(m.report, m.run);
  ASSERT_EQ(m.report.wrong.size(), 3u);
  EXPECT_EQ(m.report.wrong_total, 3);
  EXPECT_EQ(m.report.wrong[0].id, "d5");
  EXPECT_EQ(m.report.wrong[0].truth, "");
  EXPECT_EQ(m.report.wrong[1].id, "d1");
  EXPECT_EQ(m.report.wrong[1].text, "text of d1");
  EXPECT_EQ(m.report.wrong[2].route, "review");
  EXPECT_EQ(m.report.wrong[2].reasons.size(), 2u);
  EXPECT_EQ(m.report.review_examples.size(), 3u);
}

TEST(ClinicalResults, MakeAWholePage) {
  Made m = made();
  m.run.baselines[0].confidence = {0.5, 0.6, 0.7, 0.8, 0.9, 1};
  add_test_results(m.report, m.run);
  EXPECT_EQ(m.report.risk_coverage.size(), 2u);
  const std::string html = clinical_report_html(m.report);
  EXPECT_NE(html.find("text of d5"), std::string::npos);
  EXPECT_NE(html.find("3 of 3 wrong documents"), std::string::npos);
}

TEST(ClinicalResults, WhatDoesNotFitIsRefused) {
  const auto refused = [](const std::function<void(Made&)>& damage) {
    Made m = made();
    damage(m);
    EXPECT_THROW(add_test_results(m.report, m.run), Error);
  };
  refused([](Made& m) { m.run.documents.pop_back(); });
  refused([](Made& m) { m.run.baselines.clear(); });
  refused([](Made& m) { m.run.baselines[0].answers.pop_back(); });
  refused([](Made& m) { m.run.documents[0].truth = 2; });
  refused([](Made& m) { m.run.documents[0].novelty.reset(); });
  refused([](Made& m) {
    for (auto& document : m.run.documents) document.truth = -1;
  });
}

}  // namespace
}  // namespace attune::workflows
