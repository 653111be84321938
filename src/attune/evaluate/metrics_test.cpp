#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"
#include "attune/evaluate/bootstrap.h"
#include "attune/evaluate/calibration.h"
#include "attune/evaluate/classification.h"

namespace attune::evaluate {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Classification, ByHand) {
  // truth 0: right, taken for 1; truth 1: right twice; truth 2: taken for 1.
  const Classification c = classification(std::vector<int>{0, 0, 1, 1, 2}, std::vector<int>{0, 1, 1, 1, 1}, 3);
  EXPECT_DOUBLE_EQ(c.accuracy, 3.0 / 5);
  EXPECT_DOUBLE_EQ(c.per_class[1].precision, 2.0 / 4);
  EXPECT_DOUBLE_EQ(c.per_class[1].recall, 1);
  EXPECT_DOUBLE_EQ(c.per_class[1].f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(c.per_class[2].f1, 0);
  EXPECT_DOUBLE_EQ(c.macro.f1, (2.0 / 3 + 2.0 / 3 + 0) / 3);
  EXPECT_EQ(c.confusion[2][1], 1);
}

TEST(Classification, RefusesWhatCannotBeMeasured) {
  EXPECT_THROW(classification(std::vector<int>{}, std::vector<int>{}, 2), Error);
  EXPECT_THROW(classification(std::vector<int>{0}, std::vector<int>{0, 1}, 2), Error);
  const std::string message = message_of([] { classification(std::vector<int>{0, -1}, std::vector<int>{0, 1}, 2); });
  EXPECT_NE(message.find("document 1"), std::string::npos) << message;
  EXPECT_THROW(classification({{1, 2}, {3}}), Error);
  EXPECT_THROW(classification({{1, -2}, {3, 1}}), Error);
}

TEST(Softmax, IsStableAndRefusesNaN) {
  const ScoreTable p = softmax({.values = {1000, 1000, -1000, 0, std::log(3.0), -1e6}, .width = 3});
  EXPECT_DOUBLE_EQ(p.values[0], 0.5);
  EXPECT_DOUBLE_EQ(p.values[2], 0);
  EXPECT_DOUBLE_EQ(p.values[4], 0.75);
  EXPECT_THROW(softmax({.values = {0, nan}, .width = 2}), Error);
  EXPECT_THROW(softmax({.values = {0, 1, 2}, .width = 2}), Error);
  EXPECT_THROW(softmax({.values = {0, 1}, .width = 2}, 0), Error);
}

TEST(Reliability, BinsHoldTheirUpperEdge) {
  const std::vector<double> confidence{0, 0.2, 0.2000001, 1, 0.6};
  const auto bins = reliability(confidence, {true, false, true, true, false}, 5);
  EXPECT_EQ(bins[0].documents, 2);  // 0 and 0.2
  EXPECT_EQ(bins[1].documents, 1);
  EXPECT_EQ(bins[2].documents, 1);  // 0.6 is its upper edge
  EXPECT_EQ(bins[4].documents, 1);
  EXPECT_DOUBLE_EQ(bins[0].accuracy, 0.5);
  EXPECT_DOUBLE_EQ(bins[0].confidence, 0.1);
}

TEST(Reliability, EveryEdgeOfEveryNumberOfBinsFallsIntoTheBinBelowIt) {
  for (int bins = 1; bins <= 40; ++bins)
    for (int k = 1; k <= bins; ++k) {
      const std::vector<double> edge{static_cast<double>(k) / bins};
      EXPECT_EQ(reliability(edge, {true}, bins)[static_cast<std::size_t>(k - 1)].documents, 1) << k << " of " << bins;
    }
}

TEST(ExpectedCalibrationError, ByHand) {
  // One bin: confidence 0.9, accuracy 0.5 over 2; another: 0.55, accuracy 1 over 2: (2 * 0.4 + 2 * 0.45) / 4.
  const std::vector<double> confidence{0.9, 0.9, 0.55, 0.55};
  EXPECT_NEAR(expected_calibration_error(reliability(confidence, {true, false, true, true}, 10)), 0.425, 1e-12);
  EXPECT_EQ(expected_calibration_error(reliability({}, {}, 10)), 0);
}

TEST(CalibrationFigures, RefusesWhatAreNoProbabilities) {
  EXPECT_THROW(calibration_figures({.values = {0.5, 0.6}, .width = 2}, std::vector<int>{0}), Error);
  EXPECT_THROW(calibration_figures({.values = {nan, 0.6}, .width = 2}, std::vector<int>{0}), Error);
  EXPECT_THROW(calibration_figures({.values = {0.4, 0.6}, .width = 2}, std::vector<int>{2}), Error);
  EXPECT_THROW(calibration_figures({.values = {}, .width = 2}, std::vector<int>{}), Error);
  EXPECT_THROW(reliability(std::vector<double>{1.1}, {true}, 10), Error);
}

TEST(Temperature, IdentityIsKeptWhereItWouldMakeTheEceWorse) {
  // One confident mistake in a hundred drives the likelihood's temperature up, while the binned error was nearly
  // perfect.
  ScoreTable logits;
  std::vector<int> truth;
  for (int i = 0; i < 100; ++i) {
    const double z = std::log(0.99 / 0.01);
    logits.add_row(std::vector<double>{i == 0 ? 30 : z, 0});
    truth.push_back(i == 0);
  }
  const TemperatureFit fit = fit_temperature(logits, truth);
  EXPECT_NE(fit.fitted_temperature, 1);
  EXPECT_TRUE(fit.kept_identity);
  EXPECT_EQ(fit.temperature, 1);
  EXPECT_EQ(fit.after.ece, fit.before.ece);
  EXPECT_NE(fit.reason.find("left as they are"), std::string::npos);
}

TEST(Temperature, IdentityIsKeptWhereItWouldMakeTheModelSurer) {
  const ScoreTable logits{.values = {1, 0, 2, 0, 0, 2, 0, 1}, .width = 2};  // all right, and less sure than that
  const TemperatureFit fit = fit_temperature(logits, std::vector<int>{0, 0, 1, 1});
  EXPECT_LT(fit.fitted_temperature, 1);
  EXPECT_EQ(fit.temperature, 1);
  EXPECT_TRUE(fit.kept_identity);
  EXPECT_NE(fit.reason.find("surer than it is by itself"), std::string::npos);
  const TemperatureFit allowed = fit_temperature(logits, std::vector<int>{0, 0, 1, 1}, Sharpening::allowed);
  EXPECT_EQ(allowed.temperature, fit.fitted_temperature);
  EXPECT_LT(allowed.after.nll, fit.before.nll);
}

TEST(Temperature, StaysWithinItsLimitsWhereEverythingIsRightOrWrong) {
  const ScoreTable logits{.values = {2, 0, 3, 1, 0, 1}, .width = 2};
  EXPECT_NEAR(fit_temperature(logits, std::vector<int>{0, 0, 1}).fitted_temperature, 0.05, 1e-12);
  EXPECT_NEAR(fit_temperature(logits, std::vector<int>{1, 1, 0}).fitted_temperature, 20, 1e-12);
}

TEST(Temperature, OneClassAndEqualLogitsNeedNone) {
  EXPECT_EQ(fit_temperature({.values = {1, 2}, .width = 1}, std::vector<int>{0, 0}).temperature, 1);
  const TemperatureFit equal = fit_temperature({.values = {1, 1, 2, 2}, .width = 2}, std::vector<int>{0, 1});
  EXPECT_DOUBLE_EQ(equal.after.nll, std::log(2.0));
  EXPECT_THROW(fit_temperature({.values = {1, nan}, .width = 2}, std::vector<int>{0}), Error);
  EXPECT_THROW(fit_temperature({.values = {}, .width = 2}, std::vector<int>{}), Error);
}

struct MadeUp {
  std::vector<int> truth, good, bad;
  Groups groups;
};

/// `patients` of one to four documents; all of a patient's answers are right or wrong together.
MadeUp made_up(int patients) {
  MadeUp out;
  RandomStream random(RandomKey{.seed = 5});
  for (std::int32_t p = 0; p < patients; ++p) {
    const bool good_right = random.uniform() < 0.9, bad_right = random.uniform() < 0.6;
    for (std::int64_t d = random.below(4); d >= 0; --d) {
      const int truth = static_cast<int>(random.below(3));
      out.truth.push_back(truth);
      out.good.push_back(good_right ? truth : (truth + 1) % 3);
      out.bad.push_back(bad_right ? truth : (truth + 1) % 3);
      out.groups.of_document.push_back(p);
    }
  }
  out.groups.count = patients;
  return out;
}

TEST(Quantile, InterpolatesAsNumpyDoes) {
  const std::vector<double> sorted{1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.9), 6.8);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 8);
}

TEST(Bootstrap, TheSameBitsOnAnyNumberOfThreads) {
  const MadeUp m = made_up(80);
  const int threads_before = num_threads();
  std::vector<Interval> seen;
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    seen.push_back(macro_f1_interval({m.truth, m.good, 3}, m.groups, {.resamples = 333, .seed = 9}));
  }
  set_num_threads(threads_before);
  for (const Interval& one : seen) EXPECT_TRUE(one.low == seen[0].low && one.high == seen[0].high);
  const Interval other = macro_f1_interval({m.truth, m.good, 3}, m.groups, {.resamples = 333, .seed = 10});
  EXPECT_NE(other.low, seen[0].low);
}

TEST(Bootstrap, WholePatientsAreDrawnSoThatTheIntervalIsWider) {
  const MadeUp m = made_up(80);
  const auto width = [](const Interval& i) { return i.high - i.low; };
  const Answers answers{m.truth, m.good, 3};
  const auto alone = Groups::each_alone(static_cast<std::int64_t>(m.truth.size()));
  EXPECT_GT(width(accuracy_interval(answers, m.groups)), 1.3 * width(accuracy_interval(answers, alone)));
}

TEST(Bootstrap, AccuracyIntervalOfIndependentDocumentsIsTheBinomials) {
  std::vector<int> truth(400, 0), answers(400, 0);
  for (std::size_t i = 0; i < 80; ++i) answers[i] = 1;
  const Interval interval = accuracy_interval({truth, answers, 2}, Groups::each_alone(400), {.resamples = 4000});
  EXPECT_DOUBLE_EQ(interval.value, 0.8);
  EXPECT_NEAR(interval.low, 0.8 - 1.96 * 0.02, 0.004);  // standard error sqrt(0.8 * 0.2 / 400) = 0.02
  EXPECT_NEAR(interval.high, 0.8 + 1.96 * 0.02, 0.004);
}

TEST(Bootstrap, OneGroupGivesNoWidth) {
  const std::vector<int> truth{0, 1}, answers{0, 0};
  const std::vector<std::string> names{"p", "p"};
  const Interval interval = accuracy_interval({truth, answers, 2}, Groups::by_name(names));
  EXPECT_EQ(interval.low, 0.5);
  EXPECT_EQ(interval.high, 0.5);
}

TEST(Bootstrap, ThePairedDifferenceIsNarrowerThanTheSystemsAlone) {
  const MadeUp m = made_up(200);
  std::vector<int> slightly_worse = m.good;
  for (std::size_t i = 0; i < slightly_worse.size(); i += 25) slightly_worse[i] = (m.truth[i] + 1) % 3;
  const Answers a{m.truth, m.good, 3}, b{m.truth, slightly_worse, 3};
  const Difference d = difference(a, b, m.groups);
  const Interval alone = macro_f1_interval(a, m.groups);
  EXPECT_LT(d.macro_f1.high - d.macro_f1.low, 0.7 * (alone.high - alone.low));
  EXPECT_TRUE(d.first_is_better());
  EXPECT_TRUE(difference(b, a, m.groups).second_is_better());
  const Difference none = difference(a, a, m.groups);
  EXPECT_EQ(none.macro_f1.low, 0);
  EXPECT_EQ(none.macro_f1.high, 0);
  EXPECT_FALSE(none.first_is_better() || none.second_is_better());
  EXPECT_TRUE(difference(a, {m.truth, m.bad, 3}, m.groups).first_is_better());
}

TEST(Bootstrap, EceIntervalHoldsTheValueOfAWellSpreadSample) {
  RandomStream random(RandomKey{.seed = 3});
  std::vector<double> confidence;
  std::vector<bool> right;
  for (int i = 0; i < 500; ++i) {
    confidence.push_back(0.5 + 0.5 * random.uniform());
    right.push_back(random.uniform() < confidence.back() - 0.2);
  }
  const Interval ece = ece_interval(confidence, right, Groups::each_alone(500));
  EXPECT_NEAR(ece.value, 0.2, 0.05);
  EXPECT_LT(ece.low, ece.value);
  EXPECT_GT(ece.high, ece.value);
}

TEST(Bootstrap, RefusesWhatHasNoAnswer) {
  const std::vector<int> truth{0, 1}, other{1, 1};
  const Groups groups = Groups::each_alone(2);
  EXPECT_THROW(accuracy_interval({truth, truth, 2}, Groups::each_alone(3)), Error);
  EXPECT_THROW(accuracy_interval({{}, {}, 2}, {}), Error);
  EXPECT_THROW(accuracy_interval({truth, truth, 2}, groups, {.resamples = 5}), Error);
  EXPECT_THROW(accuracy_interval({truth, truth, 2}, groups, {.level = 1}), Error);
  EXPECT_THROW(bootstrap(groups, [](auto) { return nan; }), Error);
  EXPECT_THROW(difference({truth, truth, 2}, {other, other, 2}, groups), Error);
}

}  // namespace
}  // namespace attune::evaluate
