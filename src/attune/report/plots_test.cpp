#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attune/base/error.h"
#include "attune/report/confusion_matrix.h"
#include "attune/report/histogram.h"
#include "attune/report/interval_plot.h"
#include "attune/report/line_plot.h"
#include "attune/report/reliability_diagram.h"
#include "attune/report/style.h"

namespace attune::report {
namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

std::vector<std::string> labels_of(const std::vector<Tick>& all) {
  std::vector<std::string> labels;
  for (const Tick& tick : all) labels.push_back(tick.label);
  return labels;
}

TEST(Ticks, AreRoundAndInside) {
  EXPECT_EQ(labels_of(ticks({0, 1, 0, 100}, Unit::number, 5)),
            (std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels_of(ticks({0, 0.05, 0, 100}, Unit::percent, 5)),
            (std::vector<std::string>{"0 %", "1 %", "2 %", "3 %", "4 %", "5 %"}));
  EXPECT_EQ(labels_of(ticks({0.01, 100, 0, 100, true}, Unit::number)),
            (std::vector<std::string>{"0.01", "0.1", "1", "10", "100"}));
}

TEST(Scale, MapsItsEnds) {
  const Scale y{0.1, 1000, 300, 0, true};
  EXPECT_NEAR(y(0.1), 300, 1e-9);
  EXPECT_NEAR(y(10), 150, 1e-9);
  EXPECT_NEAR(y(1000), 0, 1e-9);
}

TEST(Widened, ASingleValueGetsRoom) {
  EXPECT_LT(widened({3, 3}).low, 3);
  EXPECT_GT(widened({3, 3}).high, 3);
  EXPECT_LT(widened({0, 0}).low, 0);
}

TEST(LinePlot, NamesEverySeriesAndBothAxes) {
  const LinePlot plot{.title = "Loss <while> training",
                      .x_label = "step",
                      .y_label = "loss & more",
                      .series = {{"training", {{0, 2}, {1, 1}}}, {"validation", {{0, 2.1}, {1, 1.5}}}}};
  const std::string svg = plot.svg();
  EXPECT_EQ(count(svg, "<polyline"), 2);
  for (const char* part : {"Loss &lt;while&gt; training", ">step<", "loss &amp; more", ">training<", ">validation<"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
}

TEST(LinePlot, AGapInTheDataBreaksTheLine) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const LinePlot plot{
      .title = "t", .x_label = "x", .y_label = "y", .series = {{"s", {{0, 1}, {1, 2}, {2, nan}, {3, 1}, {4, 2}}}}};
  EXPECT_EQ(count(plot.svg(), "<polyline"), 2);
}

TEST(LinePlot, ManyPointsStaySmallAndKeepTheirPeak) {
  LineSeries series{"s", {}};
  for (int i = 0; i < 200000; ++i) series.points.push_back({double(i), i == 123456 ? 50.0 : std::sin(i * 0.01)});
  const LinePlot plot{.title = "t", .x_label = "x", .y_label = "y", .series = {series}};
  const std::string svg = plot.svg();
  EXPECT_LT(svg.size(), 40000u);
  EXPECT_NE(svg.find(",40.0"), std::string::npos);  // 50, the highest tick, is the area's upper edge
}

TEST(LinePlot, NothingFiniteIsAnError) {
  EXPECT_THROW((LinePlot{.title = "t", .x_label = "", .y_label = "", .series = {{"s", {}}}}.svg()), Error);
}

TEST(LinePlot, LabelsOfEqualEndsDoNotOverlap) {
  LinePlot plot{.title = "t", .x_label = "x", .y_label = "y", .series = {}};
  for (int i = 0; i < 5; ++i) plot.series.push_back({"series" + std::to_string(i), {{0, 0}, {1, 1}}});
  const std::string svg = plot.svg();
  std::vector<double> ys;
  for (int i = 0; i < 5; ++i) {
    const std::size_t label = svg.find(">series" + std::to_string(i) + "<");
    ASSERT_NE(label, std::string::npos);
    const std::size_t y = svg.rfind("y=\"", label);
    ys.push_back(std::stod(svg.substr(y + 3)));
  }
  for (int i = 1; i < 5; ++i) EXPECT_GE(ys[static_cast<std::size_t>(i)] - ys[static_cast<std::size_t>(i - 1)], 14.9);
}

TEST(RiskCoveragePlot, ShowsTargetAndOperatingPoint) {
  const RiskCoveragePlot plot{.title = "Risk",
                              .series = {{"Transformer", {{0.1, 0.0}, {1, 0.1}}}},
                              .target_error = 0.02,
                              .chosen = Mark{{0.6, 0.018}, "chosen"}};
  const std::string svg = plot.svg();
  EXPECT_NE(svg.find("target 2.0 %"), std::string::npos);
  EXPECT_NE(svg.find(">chosen<"), std::string::npos);
}

TEST(ReliabilityDiagram, EmptyBinsHaveNoBar) {
  const ReliabilityDiagram plot{
      .title = "t", .bins = {{0, 0.5, 0.4, 0.5, 10}, {0.5, 0.75, 0, 0, 0}, {0.75, 1, 0.9, 0.8, 30}}, .ece = 0.1};
  EXPECT_EQ(count(plot.svg(), "c0 bar"), 2 + 1);  // and the legend's
  EXPECT_THROW((ReliabilityDiagram{.title = "t", .bins = {{0, 1, 0, 0, 0}}}.svg()), Error);
}

TEST(ConfusionMatrix, WritesEveryCountAndTheRowsShare) {
  const ConfusionMatrix plot{.title = "t", .labels = {"a", "b"}, .counts = {{30, 10}, {0, 1234}}};
  const std::string svg = plot.svg();
  for (const char* part : {">30<", ">10<", ">1,234<", ">75 %<", ">25 %<", "truth a, answer b: 10 documents (25.0 %"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  EXPECT_THROW((ConfusionMatrix{.title = "t", .labels = {"a", "b"}, .counts = {{1, 2}}}.svg()), Error);
  EXPECT_THROW((ConfusionMatrix{.title = "t", .labels = {"a", "b"}, .counts = {{1, 2}, {1}}}.svg()), Error);
}

TEST(ConfusionMatrix, ManyLabelsAreStillDrawn) {
  ConfusionMatrix plot{.title = "t", .labels = {}, .counts = {}};
  for (int i = 0; i < 51; ++i) {
    plot.labels.push_back("label " + std::to_string(i));
    plot.counts.emplace_back(51, i);
  }
  EXPECT_EQ(count(plot.svg(), "class=\"cell\""), 51 * 51);
}

TEST(IntervalPlot, WritesValueAndInterval) {
  const IntervalPlot plot{.title = "Macro-F1",
                          .x_label = "macro-F1",
                          .systems = {"Transformer", "rules"},
                          .groups = {{"all", "600 documents", {{0, 0.9, 0.87, 0.92}, {1, 0.7, 0.65, 0.74}}}}};
  const std::string svg = plot.svg();
  EXPECT_NE(svg.find("0.900  [0.870, 0.920]"), std::string::npos);
  EXPECT_NE(svg.find("600 documents"), std::string::npos);
  EXPECT_THROW(
      (IntervalPlot{.title = "t", .x_label = "", .systems = {"a"}, .groups = {{"g", "", {{1, 0, 0, 0}}}}}.svg()),
      Error);
  EXPECT_THROW((IntervalPlot{.title = "t", .x_label = "", .systems = {}, .groups = {}}.svg()), Error);
}

TEST(Histogram, CountsOutsideValuesAtTheEnds) {
  EXPECT_EQ(histogram_counts({-1, 0, 0.49, 0.5, 1, 7, std::nan("")}, {0, 1}, 2), (std::vector<std::int64_t>{3, 3}));
}

TEST(Histogram, NamesItsSeriesWithTheirNumbers) {
  const Histogram plot{.title = "t",
                       .x_label = "novelty",
                       .series = {{"known", {1, 2, 3}}, {"no category", {5, 6}}},
                       .threshold = Histogram::Threshold{4, "review above"}};
  const std::string svg = plot.svg();
  for (const char* part : {"known (3)", "no category (2)", "review above"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  EXPECT_THROW((Histogram{.title = "t", .x_label = "", .series = {}}.svg()), Error);
}

TEST(StandaloneSvg, CarriesItsStyle) {
  const std::string file = standalone_svg("<svg class=\"plot\"><title>t</title></svg>");
  EXPECT_EQ(file.rfind("<?xml", 0), 0u);
  EXPECT_NE(file.find("<style>"), std::string::npos);
}

}  // namespace
}  // namespace attune::report
