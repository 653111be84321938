#include "attune/baseline/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"

namespace attune {
namespace {

const std::vector<std::string> kLabels = {"bill", "letter", "report"};

std::string answer(const RuleBaseline& rules, std::string_view text) {
  std::vector<double> p = rules.probabilities(text);
  return kLabels[static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin())];
}

RuleBaseline parse(const std::string& toml) { return RuleBaseline::parse(toml, "rules.toml", kLabels); }

std::string error_of(const std::string& toml) {
  try {
    parse(toml);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

const char* kSmall = R"(
default = "letter"
tie_break = ["report", "bill"]
beginning = 12
[[rule]]
label = "bill"
phrase = "amount due"
[[rule]]
label = "report"
where = "heading"
phrases = ["findings", "radiology report"]
[[rule]]
label = "bill"
where = "beginning"
weight = 2.5
regex = 'inv(oice)?\b'
)";

TEST(Rules, PhrasesMatchWholeWordsInAnyCaseAndSpacing) {
  RuleBaseline rules = parse(kSmall);
  EXPECT_EQ(rules.scores("please see: the AMOUNT \n due is 3"), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(rules.scores("paramount due"), (std::vector<double>{0, 0, 0}));
}

TEST(Rules, ARuleCountsOnceHoweverOftenItMatches) {
  EXPECT_EQ(parse(kSmall).scores("some text that is long, amount due, amount due"), (std::vector<double>{1, 0, 0}));
}

TEST(Rules, BeginningEndsAfterItsCharacters) {
  RuleBaseline rules = parse(kSmall);
  EXPECT_EQ(rules.scores("ééééé inv"), (std::vector<double>{2.5, 0, 0}));
  EXPECT_EQ(rules.scores("éééééééééééé inv"), (std::vector<double>{0, 0, 0}));
}

TEST(Rules, HeadingsAreLinesThatAnnounce) {
  EXPECT_EQ(headings_of("Radiology report\nMr X came in.\nFINDINGS\nclear\nPlan: rest\nSummary\n-------\n2. Course\n** "
                        "Tablets **\n\nplain words here\nNote:\n"),
            "Radiology report\nFINDINGS\nPlan\nSummary\n2. Course\n** Tablets **\nNote:\n");
  RuleBaseline rules = parse(kSmall);
  EXPECT_EQ(rules.scores("First\nthe findings were clear"), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(rules.scores("First\nFindings: clear"), (std::vector<double>{0, 0, 1}));
}

TEST(Rules, TiesAndSilenceAreSettledByTheFile) {
  RuleBaseline rules = parse(kSmall);
  EXPECT_EQ(answer(rules, "nothing of note"), "letter");
  EXPECT_EQ(answer(rules, "Findings\nthe amount due"), "report");
  EXPECT_EQ(answer(rules, ""), "letter");
}

TEST(Rules, ProbabilitiesAreASoftmaxOfTheScores) {
  std::vector<double> p = parse(kSmall).probabilities(std::vector<std::string_view>{"a text, amount due", "x"});
  ASSERT_EQ(p.size(), 6u);
  EXPECT_NEAR(p[0], std::exp(1.0) / (std::exp(1.0) + 2), 1e-5);
  EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-12);
}

TEST(Rules, BadFilesSayWhereAndWhatWasMeant) {
  EXPECT_NE(error_of("default = \"leter\"\n[[rule]]\nlabel = \"bill\"\nphrase = \"x\"").find("did you mean \"letter\""),
            std::string::npos);
  EXPECT_NE(error_of("default = \"letter\"").find("[[rule]]"), std::string::npos);
  EXPECT_NE(error_of("default = \"letter\"\n[[rule]]\nlabel = \"bill\"\nphrase = \"x\"\n[[rule]]\nlabel = "
                     "\"repotr\"\nphrase = \"x\"")
                .find("rules.toml, rule 2"),
            std::string::npos);
  EXPECT_NE(error_of("default = \"letter\"\n[[rule]]\nlabel = \"bill\"\nphrse = \"x\"").find("did you mean \"phrase\""),
            std::string::npos);
  EXPECT_NE(error_of("default = \"letter\"\n[[rule]]\nlabel = \"bill\"\nphrase = \"x\"\nwhere = \"headings\"")
                .find("heading"),
            std::string::npos);
  EXPECT_NE(
      error_of("default = \"letter\"\n[[rule]]\nlabel = \"bill\"\nregex = \"(open\"").find("not a regular expression"),
      std::string::npos);
  EXPECT_NE(error_of("default = \"letter\"\n[[rule]]\nlabel = \"bill\"").find("looks for nothing"), std::string::npos);
  EXPECT_NE(error_of("default = \"letter\"\n[[rule]]\nlabel = \"bill\"\nphrase = \"  \"").find("empty phrase"),
            std::string::npos);
  EXPECT_NE(
      error_of("default = \"letter\"\ntie_break = [\"letter\", \"bil\"]\n[[rule]]\nlabel = \"bill\"\nphrase = \"x\"")
          .find("did you mean \"bill\""),
      std::string::npos);
}

}  // namespace
}  // namespace attune
