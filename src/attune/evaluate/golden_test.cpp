// Against scikit-learn, scipy and a plain numpy ECE: tests/golden/evaluate/metrics.json, written by
// tools/golden/metrics.py.
#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/json.h"
#include "attune/evaluate/binomial.h"
#include "attune/evaluate/calibration.h"
#include "attune/evaluate/classification.h"
#include "attune/evaluate/novelty.h"

namespace attune::evaluate {
namespace {

const Json& golden() {
  static const Json all = read_json(Path(ATTUNE_GOLDEN_DIR) / "evaluate/metrics.json");
  return all;
}

ScoreTable table(const Json& rows) {
  ScoreTable out;
  for (const auto& row : rows) out.add_row(row.get<std::vector<double>>());
  return out;
}

void expect_averages(const Averages& ours, const Json& theirs) {
  EXPECT_NEAR(ours.precision, theirs[0].get<double>(), 1e-14);
  EXPECT_NEAR(ours.recall, theirs[1].get<double>(), 1e-14);
  EXPECT_NEAR(ours.f1, theirs[2].get<double>(), 1e-14);
}

TEST(Classification, EqualsScikitLearn) {
  for (const Json& one : golden()["classification"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const auto truth = one["truth"].get<std::vector<int>>(), answers = one["answers"].get<std::vector<int>>();
    const int classes = one["classes"];
    for (const auto& [over, key] : {std::pair{Classes::present, "present"}, {Classes::all, "all"}}) {
      const Classification ours = classification(truth, answers, classes, over);
      EXPECT_NEAR(ours.accuracy, one["accuracy"].get<double>(), 1e-15);
      EXPECT_EQ(Json(ours.confusion), one["confusion"]);
      expect_averages(ours.macro, one[key]["macro"]);
      expect_averages(ours.micro, one[key]["micro"]);
      expect_averages(ours.weighted, one[key]["weighted"]);
      for (std::size_t c = 0; c < ours.per_class.size(); ++c) {
        EXPECT_NEAR(ours.per_class[c].precision, one["per_class"]["precision"][c].get<double>(), 1e-15);
        EXPECT_NEAR(ours.per_class[c].recall, one["per_class"]["recall"][c].get<double>(), 1e-15);
        EXPECT_NEAR(ours.per_class[c].f1, one["per_class"]["f1"][c].get<double>(), 1e-15);
        EXPECT_EQ(ours.per_class[c].support, one["per_class"]["support"][c].get<std::int64_t>());
      }
    }
    EXPECT_NEAR(classification(truth, answers, classes).macro.f1, one["macro_f1_default"].get<double>(), 1e-14);
  }
}

TEST(Calibration, FiguresEqualScikitLearnAndNumpy) {
  for (const Json& one : golden()["calibration"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const ScoreTable logits = table(one["logits"]);
    const auto truth = one["truth"].get<std::vector<int>>();
    const CalibrationFigures ours = calibration_figures(softmax(logits), truth);
    EXPECT_NEAR(ours.ece, one["before"]["ece"].get<double>(), 1e-12);
    EXPECT_NEAR(ours.brier, one["before"]["brier"].get<double>(), 1e-12);
    EXPECT_NEAR(ours.nll, one["before"]["nll"].get<double>(), 1e-12);
  }
}

TEST(Temperature, IsWhereScipyFindsTheLowestLikelihood) {
  for (const Json& one : golden()["calibration"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const ScoreTable logits = table(one["logits"]);
    const auto truth = one["truth"].get<std::vector<int>>();
    const TemperatureFit fit = fit_temperature(logits, truth);
    const double expected = one["temperature"];
    EXPECT_NEAR(fit.fitted_temperature / expected, 1, 1e-6);
    const CalibrationFigures fitted = calibration_figures(softmax(logits, fit.fitted_temperature), truth);
    EXPECT_NEAR(fitted.nll, one["nll_at_temperature"].get<double>(), 1e-12);
    EXPECT_NEAR(fitted.ece, one["ece_at_temperature"].get<double>(), 1e-6);
    EXPECT_EQ(fit.kept_identity, expected < 1);
    EXPECT_EQ(fit.after.nll, expected < 1 ? fit.before.nll : fitted.nll);
  }
}

TEST(UpperBound, EqualsScipysBetaQuantile) {
  for (const Json& one : golden()["upper_bounds"])
    EXPECT_NEAR(clopper_pearson_upper(one["events"], one["trials"], one["confidence"]), one["upper"].get<double>(),
                1e-11)
        << one.dump();
}

TEST(Detection, AurocEqualsScikitLearnWithTies) {
  const Json& one = golden()["detection"];
  const auto known = one["known"].get<std::vector<double>>(), novel = one["novel"].get<std::vector<double>>();
  EXPECT_NEAR(detection(known, novel, 0).auroc, one["auroc"].get<double>(), 1e-14);
}

TEST(Novelty, ScoresEqualNumpyAndScikitLearn) {
  const Json& one = golden()["novelty"];
  const ScoreTable train = table(one["train"]), queries = table(one["queries"]);
  const auto labels = one["labels"].get<std::vector<int>>();
  const NoveltyOptions options{.neighbours = one["neighbours"], .shrinkage = one["shrinkage"]};
  const auto far = NoveltyModel::fit(NoveltyMethod::mahalanobis, train, labels, options).scores(queries);
  const auto near = NoveltyModel::fit(NoveltyMethod::neighbours, train, labels, options).scores(queries);
  for (std::size_t i = 0; i < far.size(); ++i) {
    const double expected = one["mahalanobis"][i];
    EXPECT_NEAR(far[i] / expected, 1, 1e-4) << i;  // means and factor are kept as f32
    EXPECT_NEAR(near[i], one["fourth_neighbour"][i].get<double>(), 2e-5) << i;
  }
  EXPECT_NEAR(detection(std::span(far).first(6), std::span(far).last(6), 0).auroc,
              one["mahalanobis_auroc"].get<double>(), 1e-14);
}

}  // namespace
}  // namespace attune::evaluate
