#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/evaluate/binomial.h"
#include "attune/evaluate/calibration_contract.h"
#include "attune/evaluate/novelty.h"
#include "attune/evaluate/selective.h"

namespace attune::evaluate {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(RiskCoverage, ByHandWithATie) {
  const std::vector<double> confidence{0.9, 0.5, 0.7, 0.7};
  const auto curve = risk_coverage(confidence, {true, false, false, true});
  ASSERT_EQ(curve.size(), 3u);
  EXPECT_EQ(curve[0].answered, 1);
  EXPECT_DOUBLE_EQ(curve[0].risk, 0);
  EXPECT_DOUBLE_EQ(curve[1].threshold, 0.7);
  EXPECT_DOUBLE_EQ(curve[1].coverage, 0.75);
  EXPECT_DOUBLE_EQ(curve[1].risk, 1.0 / 3);
  EXPECT_DOUBLE_EQ(curve[2].risk, 0.5);
  // Risks of the 1 to 4 surest: 0, then 0.5 / 2 (half of the tie's one mistake), 1 / 3, 2 / 4.
  EXPECT_DOUBLE_EQ(area_under_risk_coverage(confidence, {true, false, false, true}), (0 + 0.25 + 1.0 / 3 + 0.5) / 4);
}

TEST(RiskCoverage, RefusesNaNAndNothing) {
  EXPECT_THROW(risk_coverage(std::vector<double>{nan}, {true}), Error);
  EXPECT_THROW(risk_coverage(std::vector<double>{}, {}), Error);
  EXPECT_THROW(risk_coverage(std::vector<double>{0.5}, {}), Error);
}

TEST(UpperBound, ByHand) {
  EXPECT_NEAR(clopper_pearson_upper(0, 10, 0.95), 1 - std::pow(0.05, 0.1), 1e-15);
  EXPECT_EQ(clopper_pearson_upper(3, 3, 0.95), 1);
  EXPECT_EQ(clopper_pearson_upper(0, 0, 0.95), 1);
  // P(at most 1 of 2) = 1 - p^2 = 0.05.
  EXPECT_NEAR(clopper_pearson_upper(1, 2, 0.95), std::sqrt(0.95), 1e-12);
  EXPECT_THROW(clopper_pearson_upper(3, 2, 0.95), Error);
  EXPECT_THROW(clopper_pearson_upper(1, 2, 1), Error);
}

struct Sample {
  std::vector<double> confidence;
  std::vector<bool> right;
};

/// Documents that are wrong with probability 1 - confidence; confidence = 1 - u^2 / 2.
Sample calibrated_sample(int documents, std::uint64_t seed) {
  Sample out;
  RandomStream random(RandomKey{.seed = seed});
  for (int i = 0; i < documents; ++i) {
    const double u = random.uniform();
    out.confidence.push_back(1 - u * u / 2);
    out.right.push_back(random.uniform() < out.confidence.back());
  }
  return out;
}

TEST(ChooseThreshold, ManyDocumentsGiveTheStrongestAssurance) {
  const Sample s = calibrated_sample(4000, 1);
  const ThresholdChoice choice = choose_threshold(s.confidence, s.right, {.target_error = 0.05});
  EXPECT_EQ(choice.assurance, Assurance::simultaneous);
  EXPECT_LE(choice.upper_bound, 0.05);
  EXPECT_GT(choice.coverage, 0.3);
  EXPECT_LT(choice.coverage, 0.55);  // the true error reaches 5 % where u^2 / 6 = 0.05: at 54.8 %
  const auto covered =
      std::count_if(s.confidence.begin(), s.confidence.end(), [&](double c) { return c >= *choice.threshold; });
  EXPECT_EQ(covered, choice.answered);
  EXPECT_NE(choice.statement.find("95 % confidence"), std::string::npos) << choice.statement;
}

TEST(ChooseThreshold, TheSimultaneousBoundFailsNoMoreOftenThanItSays) {
  int broken = 0, made = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Sample s = calibrated_sample(400, 100 + seed);
    const auto choice = choose_threshold(
        s.confidence, s.right, {.target_error = 0.05, .confidence = 0.9, .at_least = Assurance::simultaneous});
    if (!choice.threshold) continue;
    ++made;
    const double u = std::sqrt(2 * (1 - *choice.threshold));  // true error of the documents above: u^2 / 6
    broken += u * u / 6 > 0.05;
  }
  EXPECT_GT(made, 150);
  EXPECT_LE(broken, 40);  // a tenth of all; Bonferroni is cautious, so far fewer are seen
}

TEST(ChooseThreshold, FewDocumentsGetAWeakerAssuranceAndItSaysSo) {
  std::vector<double> confidence;
  for (int i = 0; i < 300; ++i) confidence.push_back(1 - i / 600.0);
  std::vector<bool> right(300, true);
  right[100] = false;
  // 1 of 300: 1.6 % at 95 %, but 2.2 % at 99 %, for five coverages of 240 to 300 documents tried at once.
  const auto single = choose_threshold(confidence, right, {.target_error = 0.02});
  EXPECT_EQ(single.assurance, Assurance::single);
  EXPECT_EQ(single.coverage, 1);
  EXPECT_NE(single.statement.find("optimistic"), std::string::npos);
  // 0 of 170: only the full coverage could pass at all, so nothing was chosen among several.
  const auto alone = choose_threshold(std::span(confidence).first(170), std::vector<bool>(170, true));
  EXPECT_EQ(alone.assurance, Assurance::simultaneous);
  EXPECT_NEAR(alone.upper_bound, 1 - std::pow(0.05, 1 / 170.0), 1e-12);
  const auto few =
      choose_threshold(std::span(confidence).first(60), std::vector<bool>(60, true), {.target_error = 0.02});
  EXPECT_EQ(few.assurance, Assurance::empirical);
  EXPECT_EQ(few.coverage, 1);
  EXPECT_NEAR(few.upper_bound, 1 - std::pow(0.05, 1 / 60.0), 1e-12);
  EXPECT_NE(few.statement.find("no guarantee"), std::string::npos);
  const auto too_few = choose_threshold(std::span(confidence).first(48), std::vector<bool>(48, true));
  EXPECT_EQ(too_few.assurance, Assurance::none);
}

TEST(ChooseThreshold, AnImpossibleTargetSendsEverythingToReview) {
  const Sample s = calibrated_sample(300, 3);
  std::vector<bool> wrong(300, false);
  const auto choice = choose_threshold(s.confidence, wrong);
  EXPECT_FALSE(choice.threshold.has_value());
  EXPECT_EQ(choice.assurance, Assurance::none);
  EXPECT_EQ(choice.answered, 0);
  EXPECT_NE(choice.statement.find("everything goes to review"), std::string::npos);
  const std::vector<bool> right(100, true);
  EXPECT_FALSE(choose_threshold(std::span(s.confidence).first(100), right, {.at_least = Assurance::single}).threshold);
  EXPECT_THROW(choose_threshold(s.confidence, wrong, {.target_error = 0}), Error);
}

TEST(ChooseThreshold, EqualConfidencesAreTakenTogether) {
  std::vector<double> confidence(500, 0.8);
  std::vector<bool> right(500, true);
  for (std::size_t i = 0; i < 30; ++i) right[i] = false;  // 6 %: all or nothing
  EXPECT_FALSE(choose_threshold(confidence, right).threshold.has_value());
  EXPECT_EQ(*choose_threshold(confidence, right, {.target_error = 0.1}).threshold, 0.8);
}

ScoreTable cloud(int rows, double centre, std::uint64_t seed) {
  ScoreTable out;
  RandomStream random(RandomKey{.seed = seed});
  for (int i = 0; i < rows; ++i) out.add_row(std::vector<double>{centre + random.normal(), random.normal(), 1});
  return out;
}

TEST(Novelty, FarDocumentsScoreHigherAndAConstantColumnIsNoTrouble) {
  for (const NoveltyMethod method : {NoveltyMethod::mahalanobis, NoveltyMethod::neighbours}) {
    const ScoreTable train = cloud(200, 5, 1);
    const auto model = NoveltyModel::fit(method, train, std::vector<int>(200, 0));
    const auto known = model.scores(cloud(100, 5, 2)), novel = model.scores(cloud(50, -20, 3));
    const double threshold = novelty_threshold(known);
    const Detection d = detection(known, novel, threshold);
    EXPECT_GT(d.auroc, 0.999) << novelty_method_name(method);
    EXPECT_EQ(d.detected, 1);
    EXPECT_LE(d.false_alarms, 0.05);
  }
}

TEST(Novelty, RestoredModelGivesTheSameBits) {
  for (const NoveltyMethod method : {NoveltyMethod::mahalanobis, NoveltyMethod::neighbours}) {
    const ScoreTable train = cloud(60, 1, 1), queries = cloud(20, 0, 2);
    std::vector<int> classes;
    for (int i = 0; i < 60; ++i) classes.push_back(3 * (i % 2));  // 1 and 2 do not occur
    const auto model = NoveltyModel::fit(method, train, classes);
    const auto again = NoveltyModel::restore(method, model.neighbours(), model.arrays());
    EXPECT_EQ(again.scores(queries), model.scores(queries));
  }
}

TEST(Novelty, DamagedArraysAreRefused) {
  const auto model = NoveltyModel::fit(NoveltyMethod::mahalanobis, cloud(30, 1, 1), std::vector<int>(30, 0));
  const auto damaged = [&](const std::function<void(std::vector<NoveltyModel::Array>&)>& damage) {
    auto arrays = model.arrays();
    damage(arrays);
    return NoveltyModel::restore(NoveltyMethod::mahalanobis, 0, arrays);
  };
  EXPECT_THROW(damaged([](auto& a) { a.pop_back(); }), Error);
  EXPECT_THROW(damaged([](auto& a) { a[0].shape[1] = 4; }), Error);
  EXPECT_THROW(damaged([](auto& a) { a[0].shape[0] = std::int64_t{1} << 62; }), Error);
  EXPECT_THROW(damaged([](auto& a) { a[1].values[0] = 0; }), Error);
  EXPECT_THROW(damaged([](auto& a) { a[1].values[3] = std::nanf(""); }), Error);
}

TEST(Novelty, EdgesAreErrorsOrDefined) {
  EXPECT_THROW(NoveltyModel::fit(NoveltyMethod::mahalanobis, {}, {}), Error);
  EXPECT_THROW(NoveltyModel::fit(NoveltyMethod::neighbours, cloud(5, 0, 1), {}), Error);
  EXPECT_THROW(NoveltyModel::fit(NoveltyMethod::mahalanobis, cloud(5, 0, 1), std::vector<int>{0}), Error);
  const auto model = NoveltyModel::fit(NoveltyMethod::neighbours, cloud(30, 0, 1), {});
  EXPECT_EQ(model.scores({.values = {0, 0, 0}, .width = 3})[0], 1);
  EXPECT_THROW(model.scores({.values = {0, 0}, .width = 2}), Error);
  EXPECT_THROW(model.scores({.values = {0, 0, nan}, .width = 3}), Error);
  // All training embeddings equal: no spread, yet a score.
  const ScoreTable same{.values = {1, 2, 1, 2, 1, 2}, .width = 2};
  const auto flat = NoveltyModel::fit(NoveltyMethod::mahalanobis, same, std::vector<int>{0, 0, 0});
  EXPECT_DOUBLE_EQ(flat.scores({.values = {1, 4}, .width = 2})[0], 4);
}

TEST(Novelty, EnergyByHand) {
  EXPECT_NEAR(energy_scores({.values = {0, 0, 1000, 0}, .width = 2})[0], -std::log(2.0), 1e-12);
  EXPECT_NEAR(energy_scores({.values = {0, 0, 1000, 0}, .width = 2})[1], -1000, 1e-9);
}

TEST(NoveltyThreshold, IsTheConformalQuantile) {
  std::vector<double> scores;
  for (int i = 19; i >= 1; --i) scores.push_back(i);
  EXPECT_EQ(novelty_threshold(scores, 0.95), 19);  // ceil(20 * 0.95) = 19
  EXPECT_EQ(novelty_threshold(scores, 0.5), 10);
  EXPECT_EQ(novelty_threshold({1, 2, 3}, 0.95), 3);
  EXPECT_THROW(novelty_threshold({}, 0.95), Error);
  EXPECT_THROW(novelty_threshold({nan}, 0.95), Error);
}

CalibrationData calibration_data() {
  CalibrationData data{.hash = "abc"};
  RandomStream random(RandomKey{.seed = 11});
  for (int i = 0; i < 600; ++i) {
    const int truth = static_cast<int>(random.below(3));
    const bool none = i % 20 == 0;
    std::vector<double> z(3);
    for (double& value : z) value = 2 * random.normal();
    if (!none) z[static_cast<std::size_t>(truth)] += 9;
    data.logits.add_row(z);
    data.truth.push_back(none ? -1 : truth);
    data.novelty.push_back((none ? 5 : 0) + random.uniform());
  }
  return data;
}

TEST(Calibrate, NovelDocumentsDoNotCostCoverageAndTheContractSurvivesJson) {
  const CalibrationData data = calibration_data();
  const CalibrationContract contract = calibrate(data);
  EXPECT_EQ(contract.uncategorised, 30);
  EXPECT_EQ(contract.documents, 600);
  ASSERT_TRUE(contract.novelty.has_value());
  EXPECT_GT(contract.novelty->threshold, 0.9);
  EXPECT_LT(contract.novelty->threshold, 1);
  ASSERT_TRUE(contract.route.threshold.has_value());
  EXPECT_GT(contract.route.coverage, 0.8);
  const Json json = to_json(contract);
  EXPECT_EQ(to_json(calibration_contract(parse_json(to_text(json), "test"), "test")), json);
  CalibrationData without = data;
  without.novelty.clear();
  EXPECT_LT(calibrate(without).route.coverage, contract.route.coverage);
}

TEST(Calibrate, NothingIsPromisedOfTextsShorterThanTheCalibrationDocuments) {
  CalibrationData data = calibration_data();
  EXPECT_EQ(calibrate(data).shortest, 0);  // no lengths, no bound
  for (std::size_t i = 0; i < data.truth.size(); ++i)
    data.tokens.push_back(data.truth[i] == -1 ? 3 : 40 + static_cast<std::int64_t>(i % 7));
  const CalibrationContract contract = calibrate(data);
  EXPECT_EQ(contract.shortest, 40);  // those of no category have no say
  const Json json = to_json(contract);
  EXPECT_EQ(calibration_contract(parse_json(to_text(json), "test"), "test").shortest, 40);
}

TEST(Calibrate, RefusesWhatCannotBeCalibrated) {
  CalibrationData data = calibration_data();
  data.truth.assign(data.truth.size(), -1);
  EXPECT_THROW(calibrate(data), Error);
  data = calibration_data();
  data.novelty.pop_back();
  EXPECT_THROW(calibrate(data), Error);
  data = calibration_data();
  data.truth[0] = 3;
  EXPECT_THROW(calibrate(data), Error);
}

TEST(CalibrationContractFile, AChangedFileIsRefused) {
  const Json good = to_json(calibrate(calibration_data()));
  const auto refused = [&](const std::function<void(Json&)>& change) {
    Json changed = good;
    change(changed);
    EXPECT_THROW(calibration_contract(changed, "attune.json"), Error) << changed.dump();
  };
  refused([](Json& j) { j.erase("temperature"); });
  refused([](Json& j) { j["temperature"] = -1; });
  refused([](Json& j) { j["temprature"] = 1; });
  refused([](Json& j) { j["route"]["assurance"] = "absolute"; });
  refused([](Json& j) { j["route"].erase("confidence_threshold"); });
  refused([](Json& j) { j["novelty"]["method"] = 3; });
  refused([](Json& j) { j["before"] = "good"; });
}

TEST(Routing, EachReasonIsNamed) {
  CalibrationContract contract;
  contract.route.threshold = 0.8;
  EXPECT_TRUE(route(contract, {0.8}).automatic());
  EXPECT_EQ(route(contract, {0.79}).reasons.at(0).reason, ReviewReason::low_confidence);
  EXPECT_FALSE(route(contract, {nan}).automatic());
  contract.novelty = CalibrationContract::Novelty{.threshold = 10};
  EXPECT_TRUE(route(contract, {0.9, 10}).automatic());
  EXPECT_EQ(route(contract, {0.9, 10.5}).reasons.at(0).reason, ReviewReason::novel);
  EXPECT_EQ(route(contract, {0.1, 11}).reasons.size(), 2u);
  EXPECT_FALSE(route(contract, {0.9, nan}).automatic());
  EXPECT_THROW(route(contract, {0.9}), Error);
  contract.shortest = 30;
  EXPECT_TRUE(route(contract, {0.9, 10, 30}).automatic());
  EXPECT_EQ(route(contract, {0.9, 10, 29}).reasons.at(0).reason, ReviewReason::too_short);
  contract.route.threshold.reset();
  EXPECT_EQ(route(contract, {1, 1}).reasons.at(0).reason, ReviewReason::no_threshold);
  EXPECT_EQ(review_reason_name(ReviewReason::no_threshold), "no_threshold");
}

}  // namespace
}  // namespace attune::evaluate
