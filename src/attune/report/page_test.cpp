#include "attune/report/page.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attune/base/file.h"
#include "attune/report/confusion_matrix.h"
#include "attune/report/histogram.h"
#include "attune/report/interval_plot.h"
#include "attune/report/line_plot.h"
#include "attune/report/reliability_diagram.h"

namespace attune::report {
namespace {

const std::string hostile = "</p><script>alert('x')</script><img src=x onerror=\"x\">";

std::string all_blocks(const std::string& text) {
  Page page{.title = text, .subtitle = text};
  page.verdict = {Tone::warn, text, text, {text}};
  page.summary = cards({{text, text, text}});
  Html body = paragraph(text) + prose(text) + subheading(text) + list({text}) + numbered_list({text}) +
              code_block(text) + document_text(text) + details(text, paragraph(text)) + notice(Tone::bad, text) +
              tag(Tone::good, text);
  body += table({.columns = {{text}}, .rows = {{text}}, .caption = text});
  body += figure(LinePlot{.title = text, .x_label = text, .y_label = text, .series = {{text, {{0, 1}, {1, 2}}}}}.svg(),
                 text);
  body += columns({paragraph(text)});
  page.sections.push_back({text, text, body});
  page.footer = text;
  return page.html();
}

TEST(Page, NoTextBecomesMarkup) {
  const std::string html = all_blocks(hostile);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
}

TEST(Page, NeedsNothingFromANetwork) {
  std::string html = all_blocks("x");
  const std::string name_space = "http://www.w3.org/2000/svg";
  for (std::size_t at; (at = html.find(name_space)) != std::string::npos;) html.erase(at, name_space.size());
  EXPECT_EQ(html.find("http"), std::string::npos);
  EXPECT_EQ(html.find("src="), std::string::npos);
}

TEST(Page, SectionsOfOneNameHaveTheirOwnAnchors) {
  const std::string html = Page{.title = "t", .subtitle = "", .sections = {{"A b", "", {}}, {"a B", "", {}}}}.html();
  EXPECT_NE(html.find("<section id=\"a-b\">"), std::string::npos);
  EXPECT_NE(html.find("<section id=\"a-b-2\">"), std::string::npos);
  EXPECT_NE(html.find("href=\"#a-b-2\""), std::string::npos);
}

TEST(Prose, MarksNestProperly) {
  EXPECT_EQ(prose("a **b** `c<` **d").text(), "<p>a <strong>b</strong> <code>c&lt;</code> **d</p>\n");
  EXPECT_EQ(prose("`a**b` c**").text(), "<p><code>a**b</code> c**</p>\n");
  EXPECT_EQ(prose("**a`b** c`").text(), "<p><strong>a`b</strong> c`</p>\n");
}

TEST(HtmlTable, EmphasisAndAlignment) {
  const std::string html =
      table({.columns = {{"name", Align::left}, {"n"}}, .rows = {{"x", "1"}, {"y", "2"}}, .emphasis = {1}}).text();
  EXPECT_NE(html.find("<tr><td>x</td><td class=\"r\">1</td></tr>"), std::string::npos);
  EXPECT_NE(html.find("<tr class=\"emphasis\"><td>y</td>"), std::string::npos);
}

/// A page with one of everything, to be looked at: report_sample.html beside the test program.
TEST(Page, SampleWithEveryBlockIsWritten) {
  Page page{.title = "A sample of every block", .subtitle = "Numbers are made up; look at the form."};
  page.verdict = {Tone::warn, "Look", "One sentence that says what it comes down to.", {"And **why**, in a line."}};
  page.summary = cards({{"Macro-F1", "0.871", "0.842 to 0.896"}, {"Automatic", "63.1 %", "of 612 documents"}});
  LineSeries training{"training", {}}, validation{"validation", {}}, raw{"", {}, LineSeries::Weight::faint};
  for (int i = 0; i <= 400; ++i) {
    training.points.push_back({double(i), 0.2 + 1.5 * std::exp(-i / 80.0)});
    if (i % 40 == 0) validation.points.push_back({double(i), 0.35 + 1.3 * std::exp(-i / 90.0) + i * 2e-4});
  }
  Html plots = figure(LinePlot{.title = "Loss",
                               .x_label = "step",
                               .y_label = "cross-entropy",
                               .series = {training, validation},
                               .marks = {{{280, 0.46}, "best"}}}
                          .svg(),
                      "A caption with **strong** words.");
  ReliabilityDiagram reliability{.title = "Reliability", .bins = {}, .ece = 0.061};
  for (int i = 0; i < 15; ++i)
    reliability.bins.push_back({i / 15.0, (i + 1) / 15.0, (i + 0.5) / 15.0, std::pow((i + 0.5) / 15, 1.4), 4 + i * i});
  plots += columns({figure(reliability.svg()), figure(reliability.svg())});
  ConfusionMatrix matrix{
      .title = "Confusion", .labels = {"discharge summary", "imaging report", "referral"}, .counts = {}};
  matrix.counts = {{120, 4, 9}, {2, 99, 0}, {14, 1, 80}};
  plots += figure(matrix.svg());
  plots += figure(
      IntervalPlot{.title = "Macro-F1 with 95 % intervals",
                   .x_label = "macro-F1",
                   .systems = {"Transformer", "linear", "rules", "majority"},
                   .groups = {{"all", "612 documents", {{0, .87, .84, .9}, {1, .83, .8, .86}, {2, .6, .55, .65}}},
                              {"source 7", "80 documents", {{0, .77, .7, .83}, {3, .1, .08, .12}}}}}
          .svg());
  Histogram histogram{.title = "Novelty", .x_label = "score", .series = {{"known", {}}, {"no category", {}}}};
  for (int i = 0; i < 300; ++i) histogram.series[0].values.push_back(3 + std::sin(i) + std::cos(i * 0.7));
  for (int i = 0; i < 40; ++i) histogram.series[1].values.push_back(7 + std::sin(i) * 2);
  histogram.threshold = {5.5, "review above 5.5"};
  plots += figure(histogram.svg());
  page.sections.push_back({"Plots", "Every drawing of the room.", plots});
  page.sections.push_back(
      {"Words", "",
       table({.columns = {{"label", Align::left}, {"F1"}}, .rows = {{"referral", "0.81"}}, .caption = "A table"}) +
           notice(Tone::good, "Good news.") + notice(Tone::bad, "Bad news.") + notice(Tone::note, "By the way.") +
           code_block("attune classify MODEL --input new.jsonl") + details("More", document_text("A\n  document."))});
  const Path file = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "report_sample.html";
  write_file_atomically(file, page.html());
  EXPECT_GT(std::filesystem::file_size(file), 10000u);
}

}  // namespace
}  // namespace attune::report
