#include "attune/decode/beam_group.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/base/error.h"

namespace attune {

/// A beam with one token more.
struct BeamGroup::Candidate {
  std::size_t beam = 0;
  std::int64_t token = 0;
  double score = 0;
};

bool BeamGroup::better(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.beam != b.beam ? a.beam < b.beam : a.token < b.token;
}

void BeamGroup::advance(Decoder& decoder, std::span<const float> log_probabilities) {
  std::vector<Candidate> candidates = extend(log_probabilities);
  check(!candidates.empty(), "beam search: no token is possible: all are forbidden, or a logit is not a number");
  const auto length = static_cast<std::int64_t>(running_[0].ids.size()) + 1;
  const bool last = length == max_tokens_;
  std::vector<Candidate> go_on;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    bool stops = std::ranges::find(options_->stop_ids, c.token) != options_->stop_ids.end();
    // Only the first `beams` may finish: the others are there so that as many can go on.
    if ((stops || last) && i < beams()) finish(c, length, stops);
    if (!stops && !last && go_on.size() < beams()) go_on.push_back(c);
  }
  move_on(decoder, go_on);
  done_ = running_.empty() || nothing_to_gain(length);
  if (done_) move_on(decoder, {});
}

double BeamGroup::penalised(double score, std::int64_t length) const {
  return score / std::pow(static_cast<double>(length), options_->length_penalty);
}

/// The best (stop ids + 1) * beams continuations, best first.
std::vector<BeamGroup::Candidate> BeamGroup::extend(std::span<const float> log_probabilities) const {
  const std::size_t wanted = beams() * std::max<std::size_t>(2, 1 + options_->stop_ids.size());
  const std::size_t width = log_probabilities.size() / running_.size();
  std::vector<Candidate> heap;  // the worst of the best so far is in front
  for (std::size_t b = 0; b < running_.size(); ++b)
    for (std::size_t t = 0; t < width; ++t) {
      const float value = log_probabilities[b * width + t];
      if (!(value > -std::numeric_limits<float>::infinity())) continue;  // a value that is not a number neither
      Candidate c{b, static_cast<std::int64_t>(t), running_[b].score + static_cast<double>(value)};
      if (heap.size() == wanted) {
        if (!better(c, heap.front())) continue;
        std::pop_heap(heap.begin(), heap.end(), better);
        heap.pop_back();
      }
      heap.push_back(c);
      std::push_heap(heap.begin(), heap.end(), better);
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

/// The chosen candidates become the running beams. A parent's cache goes to its first child; others fork it.
void BeamGroup::move_on(Decoder& decoder, const std::vector<Candidate>& chosen) {
  std::vector<Beam> next;
  std::vector<bool> taken(running_.size(), false);
  for (const Candidate& c : chosen) {
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
}

bool BeamGroup::nothing_to_gain(std::int64_t length) const {
  if (finished_.size() < beams()) return false;
  if (beams() == 1 && options_->beams == 1) return true;  // greedy: there is one text
  if (options_->early_stopping == EarlyStopping::at_once) return true;
  const bool longer_is_better = options_->early_stopping == EarlyStopping::never && options_->length_penalty > 0;
  return penalised(running_[0].score, longer_is_better ? max_tokens_ : length) <= finished_.back().score;
}

}  // namespace attune
