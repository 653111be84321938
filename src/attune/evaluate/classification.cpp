#include "attune/evaluate/classification.h"

#include "attune/base/error.h"

namespace attune::evaluate {

namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// One class against the rest.
struct OneAgainstRest {
  std::int64_t hits = 0, truths = 0, answers = 0;
  bool occurs() const { return truths > 0 || answers > 0; }
  double f1() const { return ratio(2.0 * static_cast<double>(hits), static_cast<double>(truths + answers)); }
};

template <class Count>
OneAgainstRest one_against_rest(int classes, int of, Count&& count) {
  OneAgainstRest one{.hits = count(of, of)};
  for (int c = 0; c < classes; ++c) one.truths += count(of, c), one.answers += count(c, of);
  return one;
}

}  // namespace

double macro_f1(std::span<const std::int64_t> counts, int classes, Classes over) {
  double sum = 0;
  int present = 0;
  for (int of = 0; of < classes; ++of) {
    const OneAgainstRest one = one_against_rest(
        classes, of, [&](int truth, int answer) { return counts[static_cast<std::size_t>(truth * classes + answer)]; });
    present += one.occurs();
    sum += one.f1();
  }
  return ratio(sum, over == Classes::all ? classes : present);
}

Classification classification(const std::vector<std::vector<std::int64_t>>& counts, Classes over) {
  const int classes = static_cast<int>(counts.size());
  Classification out{.confusion = counts};
  std::int64_t right = 0;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    check(counts[t].size() == counts.size(), "classification: row {} of the counts has {} columns for {} classes", t,
          counts[t].size(), classes);
    for (const std::int64_t count : counts[t]) {
      check(count >= 0, "classification: a count of {} documents", count);
      out.documents += count;
    }
    right += counts[t][t];
  }
  check(out.documents > 0, "classification: there is no document to measure on");
  out.accuracy = ratio(static_cast<double>(right), static_cast<double>(out.documents));

  int present = 0;
  for (int of = 0; of < classes; ++of) {
    const OneAgainstRest one = one_against_rest(classes, of, [&](int truth, int answer) {
      return counts[static_cast<std::size_t>(truth)][static_cast<std::size_t>(answer)];
    });
    const double hits = static_cast<double>(one.hits), support = static_cast<double>(one.truths);
    const ClassFigures figures{.precision = ratio(hits, static_cast<double>(one.answers)),
                               .recall = ratio(hits, support),
                               .f1 = one.f1(),
                               .support = one.truths};
    out.per_class.push_back(figures);
    out.macro.precision += figures.precision, out.macro.recall += figures.recall, out.macro.f1 += figures.f1;
    out.weighted.precision += support * figures.precision;
    out.weighted.recall += support * figures.recall;
    out.weighted.f1 += support * figures.f1;
    present += one.occurs();
  }
  const double averaged = over == Classes::all ? classes : present, documents = static_cast<double>(out.documents);
  for (double* value : {&out.macro.precision, &out.macro.recall, &out.macro.f1}) *value /= averaged;
  for (double* value : {&out.weighted.precision, &out.weighted.recall, &out.weighted.f1}) *value /= documents;
  // Each wrong answer is one false positive and one false negative, so that all three are the accuracy.
  out.micro = {out.accuracy, out.accuracy, out.accuracy};
  return out;
}

Classification classification(std::span<const int> truth, std::span<const int> answers, int classes, Classes over) {
  check(truth.size() == answers.size(), "classification: {} true classes for {} answers", truth.size(), answers.size());
  check(classes > 0, "classification: there are no classes");
  const auto n = static_cast<std::size_t>(classes);
  std::vector<std::vector<std::int64_t>> counts(n, std::vector<std::int64_t>(n));
  for (std::size_t i = 0; i < truth.size(); ++i) {
    check(truth[i] >= 0 && truth[i] < classes && answers[i] >= 0 && answers[i] < classes,
          "classification: document {} has the true class {} and the answer {}, expected 0 to {}", i, truth[i],
          answers[i], classes - 1);
    ++counts[static_cast<std::size_t>(truth[i])][static_cast<std::size_t>(answers[i])];
  }
  return classification(counts, over);
}

}  // namespace attune::evaluate
