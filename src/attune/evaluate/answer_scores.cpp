#include "attune/evaluate/answer_scores.h"

#include <algorithm>
#include <numeric>

#include "attune/base/error.h"
#include "attune/evaluate/ngrams.h"
#include "attune/evaluate/words.h"
#include "attune/text/unicode.h"
#include "attune/text/utf8.h"

namespace attune::evaluate {

namespace {

/// \w of Python's re without the underscore, which is punctuation.
bool is_word(char32_t point) { return is_letter(point) || is_number(point); }

bool is_article(std::u32string_view word) { return word == U"a" || word == U"an" || word == U"the"; }

struct AnswerScore {
  double exact = 0, f1 = 0;
};

/// `empty_words`: an answer without words is right only beside another one without, as in version 2.0.
AnswerScore compare(const std::string& answer, const std::string& truth, bool empty_words) {
  const std::string a = plain_answer(answer), b = plain_answer(truth);
  const auto words_a = split_words(a), words_b = split_words(b);
  const double same = a == b ? 1 : 0;
  if (empty_words && (words_a.empty() || words_b.empty())) return {same, same};
  NgramNumbers numbers;
  const auto common = static_cast<double>(
      overlap(numbers.count(numbers.tokens(words_a), 1)[0], numbers.count(numbers.tokens(words_b), 1)[0]));
  if (common == 0) return {same, 0};
  const double precision = common / static_cast<double>(words_a.size());
  const double recall = common / static_cast<double>(words_b.size());
  return {same, 2 * precision * recall / (precision + recall)};
}

AnswerScore best(const std::string& answer, const std::vector<std::string>& truth, bool empty_words) {
  AnswerScore highest;
  for (const std::string& one : truth) {
    const AnswerScore its = compare(answer, one, empty_words);
    highest = {std::max(highest.exact, its.exact), std::max(highest.f1, its.f1)};
  }
  return highest;
}

/// The right answers that have a word; an empty one where there is none.
std::vector<std::string> answers_of(const AnswerAndTruth& question) {
  std::vector<std::string> answers;
  for (const std::string& one : question.truth)
    if (!plain_answer(one).empty()) answers.push_back(one);
  if (answers.empty()) answers.emplace_back();
  return answers;
}

bool answerable(const AnswerAndTruth& question) { return !question.truth.empty(); }

double mean(double sum, double count) { return count > 0 ? 100 * sum / count : 0; }

}  // namespace

std::string plain_answer(std::string_view answer) {
  std::u32string points;
  for (char32_t point : code_points_of(lower_case(answer)))
    if (!is_ascii_punctuation(point)) points.push_back(point);
  std::u32string without;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i;
    while (end < points.size() && is_word(points[end])) ++end;
    const std::u32string_view word = std::u32string_view(points).substr(i, end - i);
    if (word.empty()) {
      without += points[i++];
      continue;
    }
    if (is_article(word))
      without += U' ';
    else
      without += word;
    i = end;
  }
  std::string text, plain;
  for (char32_t point : without) append_utf8(text, point);
  for (std::string_view word : split_words(text)) {
    if (!plain.empty()) plain += ' ';
    plain += word;
  }
  return plain;
}

SummedMetric squad_scores(std::span<const AnswerAndTruth> questions) {
  check(!questions.empty(), "there is no question to measure");
  SummedMetric metric{.names = {"exact", "f1"}, .width = 3};
  for (std::size_t i = 0; i < questions.size(); ++i) {
    check(answerable(questions[i]), "question {} has no right answer: such questions are squad-v2's", i + 1);
    const AnswerScore one = best(questions[i].answer, questions[i].truth, false);
    for (double value : {one.exact, one.f1, 1.0}) metric.statistics.push_back(value);
  }
  metric.figures = [](std::span<const double> sums, std::span<double> out) {
    out[0] = mean(sums[0], sums[2]), out[1] = mean(sums[1], sums[2]);
  };
  return metric;
}

SummedMetric squad2_scores(std::span<const AnswerAndTruth> questions, double threshold) {
  check(!questions.empty(), "there is no question to measure");
  SummedMetric metric{.names = {"exact", "f1", "answerable exact", "answerable f1", "answerable questions",
                                "unanswerable exact", "unanswerable questions"},
                      .width = 5};
  for (const AnswerAndTruth& question : questions) {
    AnswerScore one = best(question.answer, answers_of(question), true);
    if (question.no_answer_probability.value_or(0) > threshold) one.exact = one.f1 = answerable(question) ? 0 : 1;
    std::vector<double> sums = {0, 0, 0, 0, 0};
    if (answerable(question))
      sums[0] = one.exact, sums[1] = one.f1, sums[2] = 1;
    else
      sums[3] = one.exact, sums[4] = 1;
    metric.statistics.insert(metric.statistics.end(), sums.begin(), sums.end());
  }
  metric.figures = [](std::span<const double> sums, std::span<double> out) {
    const double all = sums[2] + sums[4];
    const double values[] = {mean(sums[0] + sums[3], all),
                             mean(sums[1] + sums[3], all),
                             mean(sums[0], sums[2]),
                             mean(sums[1], sums[2]),
                             sums[2],
                             mean(sums[3], sums[4]),
                             sums[4]};
    std::copy(std::begin(values), std::end(values), out.begin());
  };
  return metric;
}

BestThreshold best_no_answer_threshold(std::span<const AnswerAndTruth> questions) {
  std::vector<std::size_t> order(questions.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i : order)
    check(questions[i].no_answer_probability.has_value(), "question {} has no probability of there being no answer",
          i + 1);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return *questions[a].no_answer_probability < *questions[b].no_answer_probability;
  });
  // At first nothing is answered; then, one question after another, those that are most probably answerable.
  const auto unanswerable =
      static_cast<double>(std::ranges::count_if(questions, [](const auto& q) { return !answerable(q); }));
  BestThreshold best_of{.exact = unanswerable, .f1 = unanswerable};
  double exact = unanswerable, f1 = unanswerable;
  for (std::size_t i : order) {
    const AnswerAndTruth& question = questions[i];
    const AnswerScore one = best(question.answer, answers_of(question), true);
    const bool says_none = question.answer.empty();
    exact += answerable(question) ? one.exact : says_none ? 0 : -1;
    f1 += answerable(question) ? one.f1 : says_none ? 0 : -1;
    if (exact > best_of.exact) best_of.exact = exact, best_of.exact_threshold = *question.no_answer_probability;
    if (f1 > best_of.f1) best_of.f1 = f1, best_of.f1_threshold = *question.no_answer_probability;
  }
  const auto count = static_cast<double>(questions.size());
  best_of.exact = mean(best_of.exact, count), best_of.f1 = mean(best_of.f1, count);
  return best_of;
}

}  // namespace attune::evaluate
