#include "attune/baseline/linear_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"
#include "attune/baseline/majority.h"
#include "attune/baseline/words.h"

namespace attune {
namespace {

// What scikit-learn computes: tools/golden/linear_model.py.
const Json& golden() {
  static const Json all = read_json(Path(ATTUNE_GOLDEN_DIR) / "baseline" / "linear_model.json");
  return all;
}

struct Owned {
  std::vector<std::string> texts;
  std::vector<int> targets;
  std::vector<std::string_view> views() const { return {texts.begin(), texts.end()}; }
};

Owned part(const char* name) {
  Owned out;
  auto labels = golden()["labels"].get<std::vector<std::string>>();
  for (const Json& pair : golden()[name]) {
    out.targets.push_back(
        static_cast<int>(std::find(labels.begin(), labels.end(), pair[0].get<std::string>()) - labels.begin()));
    out.texts.push_back(pair[1].get<std::string>());
  }
  return out;
}

TEST(Words, AreThoseThatScikitLearnFinds) {
  for (const Json& one : golden()["words"])
    EXPECT_EQ(lower_case_words(one["text"].get<std::string>()), one["words"].get<std::vector<std::string>>())
        << one["text"];
}

TEST(Words, OfBadBytesAreNotJoined) {
  EXPECT_EQ(lower_case_words("ab\xff"
                             "cd"),
            (std::vector<std::string>{"ab", "cd"}));
}

TEST(Tfidf, TermsAndWeightsAreScikitLearns) {
  Owned train = part("train"), test = part("test");
  for (const Json& model : golden()["models"]) {
    TfidfVectorizer vectorizer = TfidfVectorizer::fit(train.views(), {.sublinear_tf = model["sublinear"].get<bool>()});
    EXPECT_EQ(vectorizer.terms(), model["terms"].get<std::int64_t>());
    SparseRows rows = vectorizer.transform(test.views());
    for (std::size_t r = 0; r < model["rows"].size(); ++r) {
      const Json& expected = model["rows"][r];
      EXPECT_EQ(static_cast<std::size_t>(rows.offsets[r + 1] - rows.offsets[r]), expected.size());
      for (const auto& [term, weight] : expected.items()) {
        std::int64_t column = vectorizer.column(term);
        auto begin = rows.columns.begin() + rows.offsets[r], end = rows.columns.begin() + rows.offsets[r + 1];
        auto found = std::find(begin, end, column);
        ASSERT_NE(found, end) << term;
        EXPECT_NEAR(rows.values[static_cast<std::size_t>(found - rows.columns.begin())], weight.get<double>(), 1e-11)
            << term;
      }
    }
  }
}

TEST(Tfidf, UnknownWordsGiveAnEmptyRow) {
  std::vector<std::string_view> texts = {"one two", "one two"};
  SparseRows rows = TfidfVectorizer::fit(texts).transform(std::vector<std::string_view>{"zzz", ""});
  EXPECT_EQ(rows.offsets, (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(Tfidf, NoCommonWordIsAnError) {
  std::vector<std::string_view> texts = {"alpha beta", "gamma delta"};
  EXPECT_THROW(TfidfVectorizer::fit(texts), Error);
}

TEST(SoftmaxRegression, ReachesScikitLearnsOptimum) {
  Owned train = part("train"), test = part("test");
  for (const Json& model : golden()["models"]) {
    TfidfVectorizer vectorizer = TfidfVectorizer::fit(train.views(), {.sublinear_tf = model["sublinear"].get<bool>()});
    SparseRows x = vectorizer.transform(train.views()), held_out = vectorizer.transform(test.views());
    for (const Json& fit : model["fits"]) {
      SoftmaxRegressionOptions options{.c = fit["c"].get<double>(), .tolerance = 1e-7, .max_iterations = 2000};
      std::vector<double> p = SoftmaxRegression::fit(x, train.targets, 4, options).probabilities(held_out);
      double worst = 0;
      for (std::size_t i = 0; i < p.size(); ++i)
        worst = std::max(worst, std::abs(p[i] - fit["probabilities"][i / 4][i % 4].get<double>()));
      EXPECT_LT(worst, 1e-4) << "C " << options.c;
    }
  }
}

TEST(SoftmaxRegression, DefaultToleranceIsWithinAThousandth) {
  Owned train = part("train"), test = part("test");
  const Json& model = golden()["models"][0];
  TfidfVectorizer vectorizer = TfidfVectorizer::fit(train.views());
  std::vector<double> cs = {0.5, 10, 200};  // a path: each search begins where the last ended
  std::vector<SoftmaxRegression> path =
      SoftmaxRegression::fit_path(vectorizer.transform(train.views()), train.targets, 4, cs);
  for (std::size_t k = 0; k < cs.size(); ++k) {
    ASSERT_EQ(model["fits"][k]["c"].get<double>(), cs[k]);
    std::vector<double> p = path[k].probabilities(vectorizer.transform(test.views()));
    for (std::size_t i = 0; i < p.size(); ++i)
      EXPECT_NEAR(p[i], model["fits"][k]["probabilities"][i / 4][i % 4].get<double>(), 1e-3) << "C " << cs[k];
  }
}

// More classes than a block holds and more rows than a piece of work.
TEST(SoftmaxRegression, SameBitsForAnyNumberOfThreads) {
  RandomStream random(RandomKey{3, 0, 0});
  Owned data;
  for (int i = 0; i < 1300; ++i) {
    int label = static_cast<int>(random.below(19));
    std::string text;
    for (int w = 0; w < 12; ++w)
      text += "w" + std::to_string(random.below(3) ? random.below(400) : label * 20 + random.below(20)) + "x ";
    data.texts.push_back(text);
    data.targets.push_back(label);
  }
  std::vector<double> results[2];
  int before = num_threads();
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    LinearModelOptions options;
    options.solver.max_iterations = 15;
    std::vector<std::string_view> views = data.views();
    LabelledTexts all{views, data.targets};
    results[threads == 3] = LinearModel::fit(all, {}, 19, options).probabilities(views);
  }
  set_num_threads(before);
  EXPECT_EQ(results[0], results[1]);
  for (std::size_t i = 0; i < results[0].size(); i += 19)
    EXPECT_NEAR(std::accumulate(results[0].begin() + static_cast<std::ptrdiff_t>(i),
                                results[0].begin() + static_cast<std::ptrdiff_t>(i) + 19, 0.0),
                1, 1e-12);
}

TEST(SoftmaxRegression, BadInputIsAnError) {
  SparseRows x{.width = 2, .offsets = {0, 1, 2}, .columns = {0, 1}, .values = {1, 1}};
  EXPECT_THROW(SoftmaxRegression::fit(x, std::vector<int>{0}, 2), Error);
  EXPECT_THROW(SoftmaxRegression::fit(x, std::vector<int>{0, 2}, 2), Error);
  EXPECT_THROW(SoftmaxRegression::fit(x, std::vector<int>{0, 0}, 1), Error);
  EXPECT_THROW(SoftmaxRegression::fit(x, std::vector<int>{0, 1}, 2, {.c = -1}), Error);
}

TEST(SoftmaxRegression, StopsWhenAsked) {
  SparseRows x{.width = 2, .offsets = {0, 1, 2}, .columns = {0, 1}, .values = {1, 1}};
  std::atomic<bool> stop = true;
  EXPECT_THROW(SoftmaxRegression::fit(x, std::vector<int>{0, 1}, 2, {}, {.progress = {}, .cancel = &stop}), Cancelled);
}

TEST(LinearModel, TakesTheCThatIsBestOnTheValidationPart) {
  Owned train = part("train"), test = part("test");
  std::vector<std::string_view> views = train.views(), held_out = test.views();
  LinearModelOptions options;
  options.cs = {1e-4, 10};
  EXPECT_EQ(LinearModel::fit({views, train.targets}, {held_out, test.targets}, 4, options).c(), 10);
}

TEST(MajorityBaseline, AnswersTheMostFrequentLabelWithTheShares) {
  std::vector<double> p = MajorityBaseline(std::vector<int>{2, 1, 2, 0}, 4).probabilities(2);
  EXPECT_EQ(p, (std::vector<double>{0.25, 0.25, 0.5, 0, 0.25, 0.25, 0.5, 0}));
  EXPECT_EQ(largest_columns(p, 4), (std::vector<int>{2, 2}));
  EXPECT_THROW(MajorityBaseline({}, 2), Error);
}

}  // namespace
}  // namespace attune
