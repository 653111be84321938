#include "attune/decode/beam_group.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/base/error.h"
#include "attune/kernels/cpu/first_above.h"

namespace attune {

bool BeamGroup::better(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.beam != b.beam ? a.beam < b.beam : a.token < b.token;
}

void BeamGroup::choose(std::span<const float> log_probabilities) {
  std::vector<Candidate> candidates = extend(log_probabilities);
  check(!candidates.empty(), "beam search: no token is possible: all are forbidden, or a logit is not a number");
  const auto length = static_cast<std::int64_t>(running_[0].ids.size()) + 1;
  const bool last = length == max_tokens_;
  chosen_.clear();
  for (std::size_t i = 0; i < candidates.size() && (i < beams() || chosen_.size() < beams()); ++i) {
    const Candidate& c = candidates[i];
    const bool stops = this->stops(c);
    // Only the first `beams` may finish: the others are there so that as many can go on.
    if ((stops || last) && i < beams()) finish(c, length, stops);
    if (!stops && !last && chosen_.size() < beams()) chosen_.push_back(c);
  }
  done_ = chosen_.empty() || nothing_to_gain(chosen_, length);
  if (done_) chosen_.clear();
}

bool BeamGroup::stops(const Candidate& c) const {
  if (std::ranges::find(options_->stop_ids, c.token) != options_->stop_ids.end()) return true;
  if (!options_->ends) return false;
  std::vector<std::int64_t> written = running_[c.beam].ids;
  written.push_back(c.token);
  return options_->ends(input_, written);
}

std::vector<std::int64_t> BeamGroup::chosen() const {
  std::vector<std::int64_t> tokens;
  for (const Candidate& c : chosen_) tokens.push_back(c.token);
  return tokens;
}

double BeamGroup::penalised(double score, std::int64_t length) const {
  return score / std::pow(static_cast<double>(length), options_->length_penalty);
}

/// The best (stop ids + 1) * beams continuations, best first.
std::vector<BeamGroup::Candidate> BeamGroup::extend(std::span<const float> log_probabilities) const {
  const std::size_t wanted = beams() * std::max<std::size_t>(2, 1 + options_->stop_ids.size());
  const std::size_t width = log_probabilities.size() / running_.size();
  std::vector<Candidate> heap;  // the worst of the best so far is in front
  for (std::size_t b = 0; b < running_.size(); ++b) {
    const std::span<const float> row = log_probabilities.subspan(b * width, width);
    // What is not above this is not among the best: lowered so that rounding leaves out none.
    const auto bound = [&] {
      constexpr float lowest = -std::numeric_limits<float>::infinity();
      if (heap.size() < wanted) return lowest;
      const auto gap = static_cast<float>(heap.front().score - running_[b].score);
      return std::nextafter(gap, lowest);
    };
    float least = bound();
    for (std::int64_t t = kernels::first_above(row, least, 0); t < static_cast<std::int64_t>(width);
         t = kernels::first_above(row, least, t + 1)) {
      const Candidate c{b, t, running_[b].score + static_cast<double>(row[static_cast<std::size_t>(t)])};
      if (heap.size() == wanted) {
        if (!better(c, heap.front())) continue;
        std::pop_heap(heap.begin(), heap.end(), better);
        heap.pop_back();
      }
      heap.push_back(c);
      std::push_heap(heap.begin(), heap.end(), better);
      least = bound();
    }
  }
  std::sort(heap.begin(), heap.end(), better);
  return heap;
}

void BeamGroup::finish(const Candidate& c, std::int64_t length, bool stops) {
  BeamResult result{running_[c.beam].ids, penalised(c.score, length), stops};
  result.ids.push_back(c.token);
  auto place = std::upper_bound(finished_.begin(), finished_.end(), result,
                                [](const BeamResult& a, const BeamResult& b) { return a.score > b.score; });
  finished_.insert(place, std::move(result));
  if (finished_.size() > beams()) finished_.pop_back();
}

void BeamGroup::move_on(Decoder& decoder) {
  std::vector<Beam> next;
  std::vector<bool> taken(running_.size(), false);
  for (const Candidate& c : chosen_) {
    const Beam& parent = running_[c.beam];
    Beam child{.sequence = taken[c.beam] ? decoder.fork(parent.sequence) : parent.sequence,
               .ids = parent.ids,
               .score = c.score};
    taken[c.beam] = true;
    child.ids.push_back(c.token);
    next.push_back(std::move(child));
  }
  for (std::size_t b = 0; b < running_.size(); ++b)
    if (!taken[b]) decoder.drop(running_[b].sequence);
  running_ = std::move(next);
  chosen_.clear();
}

bool BeamGroup::nothing_to_gain(const std::vector<Candidate>& going_on, std::int64_t length) const {
  if (finished_.size() < beams()) return false;
  if (beams() == 1 && options_->beams == 1) return true;  // greedy: there is one text
  if (options_->early_stopping == EarlyStopping::at_once) return true;
  const bool longer_is_better = options_->early_stopping == EarlyStopping::never && options_->length_penalty > 0;
  return penalised(going_on[0].score, longer_is_better ? max_tokens_ : length) <= finished_.back().score;
}

}  // namespace attune
