#include "attune/evaluate/span_scores.h"

#include <algorithm>
#include <map>
#include <set>

#include "attune/base/error.h"

namespace attune::evaluate {

namespace {

struct SpanTag {
  char mark = 'O';
  std::string type;  // "_" where the tag has none, as in seqeval
};

SpanTag read_tag(const std::string& tag, std::size_t place, TagReading reading) {
  const std::string marks = reading == TagReading::strict ? "OBI" : "OBIES";
  const bool known = !tag.empty() && marks.find(tag[0]) != std::string::npos && (tag.size() == 1 || tag[1] == '-');
  check(known && (tag[0] != 'O' || tag.size() == 1), "tag {} is \"{}\": expected O, or {} and the type, as in B-PER",
        place + 1, tag, reading == TagReading::strict ? "B- or I-" : "B-, I-, E- or S-");
  return {tag[0], tag.size() > 2 ? tag.substr(2) : "_"};
}

/// seqeval's rules of where a span ends between two tags, and where one begins.
bool ends(const SpanTag& before, const SpanTag& now) {
  if (before.mark == 'O') return false;
  if (before.mark == 'E' || before.mark == 'S') return true;
  return now.mark == 'B' || now.mark == 'S' || now.mark == 'O' || before.type != now.type;
}

bool begins(const SpanTag& before, const SpanTag& now) {
  if (now.mark == 'O') return false;
  if (now.mark == 'B' || now.mark == 'S') return true;
  return before.mark == 'E' || before.mark == 'S' || before.mark == 'O' || before.type != now.type;
}

std::vector<TypedSpan> lenient_spans(const std::vector<SpanTag>& tags) {
  std::vector<TypedSpan> spans;
  SpanTag before;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i <= tags.size(); ++i) {
    const SpanTag now = i < tags.size() ? tags[i] : SpanTag{};
    const auto place = static_cast<std::int64_t>(i);
    if (ends(before, now)) spans.push_back({before.type, begin, place});
    if (begins(before, now)) begin = place;
    before = now;
  }
  return spans;
}

std::vector<TypedSpan> strict_spans(const std::vector<SpanTag>& tags) {
  std::vector<TypedSpan> spans;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (tags[i].mark != 'B') continue;
    std::size_t end = i + 1;
    while (end < tags.size() && tags[end].mark == 'I' && tags[end].type == tags[i].type) ++end;
    spans.push_back({tags[i].type, static_cast<std::int64_t>(i), static_cast<std::int64_t>(end)});
  }
  return spans;
}

struct Tally {
  double right = 0, found = 0, wanted = 0;

  explicit Tally(std::span<const double> sums) : right(sums[0]), found(sums[1]), wanted(sums[2]) {}
  Tally() = default;
  void add(const Tally& other) { right += other.right, found += other.found, wanted += other.wanted; }
  double precision() const { return found > 0 ? right / found : 0; }
  double recall() const { return wanted > 0 ? right / wanted : 0; }
  double f1() const { return precision() + recall() > 0 ? 2 * precision() * recall() / (precision() + recall()) : 0; }
  void put(std::span<double> out, double share = 1) const {
    out[0] += share * f1(), out[1] += share * precision(), out[2] += share * recall();
  }
};

void figures_of(std::span<const double> sums, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  Tally all;
  double occurring = 0;
  for (std::size_t t = 0; t + 2 < sums.size(); t += 3) {
    const Tally one(sums.subspan(t, 3));
    all.add(one);
    occurring += one.found > 0 || one.wanted > 0;
  }
  all.put(out.first(3));
  for (std::size_t t = 0; t + 2 < sums.size(); t += 3) {
    const Tally one(sums.subspan(t, 3));
    if (occurring > 0) one.put(out.subspan(3, 3), 1 / occurring);
    if (all.wanted > 0) one.put(out.subspan(6, 3), one.wanted / all.wanted);
    const std::span<double> its = out.subspan(9 + t / 3 * 4, 4);
    one.put(its.first(3));
    its[3] = one.wanted;
  }
}

}  // namespace

std::vector<TypedSpan> spans_of_tags(std::span<const std::string> tags, TagReading reading) {
  std::vector<SpanTag> read;
  for (std::size_t i = 0; i < tags.size(); ++i) read.push_back(read_tag(tags[i], i, reading));
  return reading == TagReading::strict ? strict_spans(read) : lenient_spans(read);
}

SummedMetric span_scores(std::span<const FoundSpans> texts) {
  check(!texts.empty(), "there is no text to measure");
  std::map<std::string, std::size_t> places;  // of the types, in the order of their names
  for (const FoundSpans& text : texts)
    for (const auto* spans : {&text.found, &text.wanted})
      for (const TypedSpan& span : *spans) places[span.type] = 0;
  SummedMetric metric{.names = {}, .width = 3 * std::max<std::size_t>(1, places.size())};
  for (const char* average : {"micro", "macro", "weighted"})
    for (const char* figure : {" f1", " precision", " recall"}) metric.names.push_back(std::string(average) + figure);
  std::size_t count = 0;
  for (auto& [type, place] : places) {
    place = 3 * count++;
    for (const char* figure : {" f1", " precision", " recall", " support"}) metric.names.push_back(type + figure);
  }
  for (const FoundSpans& text : texts) {
    std::vector<double> sums(metric.width);
    const std::set<TypedSpan> found(text.found.begin(), text.found.end()),
        wanted(text.wanted.begin(), text.wanted.end());
    for (const TypedSpan& span : found) sums[places[span.type]] += wanted.contains(span), ++sums[places[span.type] + 1];
    for (const TypedSpan& span : wanted) ++sums[places[span.type] + 2];
    metric.statistics.insert(metric.statistics.end(), sums.begin(), sums.end());
  }
  metric.figures = figures_of;
  if (places.empty()) {  // nothing found and nothing there
    metric.figures = [](std::span<const double>, std::span<double> out) { std::fill(out.begin(), out.end(), 0.0); };
  }
  return metric;
}

}  // namespace attune::evaluate
