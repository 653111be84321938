#include "attune/explain/sliding_perplexity.h"

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"

namespace attune::explain {

namespace {

/// A text's windows; those in which nothing can be asked for are left out.
std::vector<ReadWindow> windows_of(std::int64_t tokens, std::int64_t length, std::int64_t stride) {
  std::vector<ReadWindow> windows;
  for (std::int64_t begin = 0, before = 0; before < tokens; begin += stride) {
    const std::int64_t end = std::min(begin + length, tokens);
    // Nothing in the window stands before its first token.
    const std::int64_t fresh = end - before, asked = std::min(fresh, end - begin - 1);
    if (asked > 0) windows.push_back({.begin = begin, .end = end, .fresh = fresh, .asked = asked});
    before = end;
  }
  return windows;
}

constexpr std::int64_t ids_at_once = 1 << 22;  // in memory: windows overlap, so all of them may be many times the text

Asked asked_in(const std::vector<std::int64_t>& text, const ReadWindow& window) {
  Asked one{.ids = {text.begin() + window.begin, text.begin() + window.end}, .places = {}};
  const std::int64_t length = window.end - window.begin;
  for (std::int64_t place = length - window.asked; place < length; ++place) one.places.push_back(place);
  return one;
}

/// Asks for windows `first` and what follows it as far as memory goes; returns the next one.
std::size_t ask_some(const Probed& probed, const std::vector<std::vector<std::int64_t>>& texts,
                     std::vector<ReadWindow>& windows, std::size_t first, const Run& run) {
  std::vector<Asked> sequences;
  std::int64_t ids = 0;
  for (std::size_t w = first; w < windows.size() && (w == first || ids < ids_at_once); ++w) {
    sequences.push_back(asked_in(texts[static_cast<std::size_t>(windows[w].text)], windows[w]));
    ids += windows[w].end - windows[w].begin;
  }
  Run inside = run;
  if (run.progress)
    inside.progress = [&](Progress now) {
      now.done += static_cast<std::int64_t>(first);
      now.total = static_cast<std::int64_t>(windows.size());
      run.report(now);
    };
  const auto answers = ask(probed.model, sequences, probed.asking, inside);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    double sum = 0;
    for (const TokenAnswer& answer : answers[i]) sum += answer.loss;
    windows[first + i].loss = sum / static_cast<double>(windows[first + i].asked);
  }
  return first + answers.size();
}

}  // namespace

double SlidingPerplexity::perplexity() const { return std::exp(loss.value); }

double SlidingPerplexity::recipe_perplexity() const {
  double sum = 0, count = 0;
  for (const ReadWindow& window : windows) {
    const auto weight = static_cast<double>(window.fresh - 1);
    sum += weight * window.loss, count += weight;
  }
  return std::exp(sum / count);
}

SlidingPerplexity sliding_perplexity(const Probed& probed, const std::vector<std::vector<std::int64_t>>& texts,
                                     std::int64_t length, std::int64_t stride, const Run& run) {
  const ModelFacts& facts = probed.model.facts();
  check(facts.head == HeadKind::causal_lm, "perplexity by stride: this {} model is no causal language model",
        facts.model_type);
  check(length >= 2 && length <= facts.longest.value_or(longest_probe),
        "perplexity by stride: windows of {} tokens: give 2 to {}", length, facts.longest.value_or(longest_probe));
  check(stride >= 1 && stride <= length, "perplexity by stride: a stride of {} in windows of {}: give 1 to {}", stride,
        length, length);
  SlidingPerplexity result;
  for (std::size_t t = 0; t < texts.size(); ++t)
    for (ReadWindow window : windows_of(static_cast<std::int64_t>(texts[t].size()), length, stride)) {
      window.text = static_cast<std::int64_t>(t);
      result.windows.push_back(window);
    }
  check(!result.windows.empty(), "perplexity by stride: no text has two tokens");
  for (std::size_t next = 0; next < result.windows.size();) next = ask_some(probed, texts, result.windows, next, run);
  double sum = 0;
  std::vector<double> means;
  for (const ReadWindow& window : result.windows) {
    sum += window.loss * static_cast<double>(window.asked);
    result.tokens += window.asked;
    means.push_back(window.loss);
  }
  result.loss = evaluate::mean_interval(means);
  const double mean = sum / static_cast<double>(result.tokens);  // windows weigh by their tokens
  result.loss.low += mean - result.loss.value, result.loss.high += mean - result.loss.value, result.loss.value = mean;
  return result;
}

}  // namespace attune::explain
