#include "attune/decode/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/base/error.h"
#include "attune/ops/softmax.h"

namespace attune {

namespace {

constexpr std::int64_t page_tokens = 16;
constexpr float impossible = -std::numeric_limits<float>::infinity();

struct Beam {
  Decoder::Sequence sequence;
  std::vector<std::int64_t> ids;
  double score = 0;  // sum of log-probabilities
};

/// A beam with one token more.
struct Candidate {
  std::size_t beam = 0;
  std::int64_t token = 0;
  double score = 0;
};

bool better(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.beam != b.beam ? a.beam < b.beam : a.token < b.token;
}

/// One input's search: its running beams and the best that are finished.
class Search {
 public:
  /// `begin`: what is left of what the sequence reads before the search; `already`: how much it has read.
  Search(const BeamOptions& options, Decoder::Sequence sequence, std::vector<std::int64_t> begin, std::int64_t already)
      : options_(&options), begin_(std::move(begin)), max_tokens_(options.max_tokens) {
    const auto read = static_cast<std::int64_t>(begin_.size()) + already;
    if (options.longest > 0) max_tokens_ = std::min(max_tokens_, std::max<std::int64_t>(1, options.longest - read));
    running_.push_back({.sequence = sequence, .ids = {}});
  }

  bool done() const { return done_; }
  const std::vector<Beam>& running() const { return running_; }
  /// What a beam's next step reads.
  std::vector<std::int64_t> next_tokens(const Beam& beam) const {
    return beam.ids.empty() ? begin_ : std::vector<std::int64_t>{beam.ids.back()};
  }
  bool next_is_last() const { return static_cast<std::int64_t>(running_[0].ids.size()) + 1 == max_tokens_; }
  BeamResult best() const { return finished_.front(); }

  /// log_probabilities: [running beams, vocabulary]
  void advance(Decoder& decoder, std::span<const float> log_probabilities) {
    std::vector<Candidate> candidates = extend(log_probabilities);
    check(!candidates.empty(), "beam search: no token is possible: all are forbidden, or a logit is not a number");
    const auto length = static_cast<std::int64_t>(running_[0].ids.size()) + 1;
    const bool last = next_is_last();
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

 private:
  std::size_t beams() const { return static_cast<std::size_t>(options_->beams); }

  double penalised(double score, std::int64_t length) const {
    return score / std::pow(static_cast<double>(length), options_->length_penalty);
  }

  /// The best (stop ids + 1) * beams continuations, best first.
  std::vector<Candidate> extend(std::span<const float> log_probabilities) const {
    const std::size_t wanted = beams() * std::max<std::size_t>(2, 1 + options_->stop_ids.size());
    const std::size_t width = log_probabilities.size() / running_.size();
    std::vector<Candidate> heap;  // the worst of the best so far is in front
    for (std::size_t b = 0; b < running_.size(); ++b)
      for (std::size_t t = 0; t < width; ++t) {
        const float value = log_probabilities[b * width + t];
        if (!(value > impossible)) continue;  // a value that is not a number neither
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

  void finish(const Candidate& c, std::int64_t length, bool stops) {
    BeamResult result{running_[c.beam].ids, penalised(c.score, length), stops};
    result.ids.push_back(c.token);
    auto place = std::upper_bound(finished_.begin(), finished_.end(), result,
                                  [](const BeamResult& a, const BeamResult& b) { return a.score > b.score; });
    finished_.insert(place, std::move(result));
    if (finished_.size() > beams()) finished_.pop_back();
  }

  /// The chosen candidates become the running beams. A parent's cache goes to its first child; others fork it.
  void move_on(Decoder& decoder, const std::vector<Candidate>& chosen) {
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

  bool nothing_to_gain(std::int64_t length) const {
    if (finished_.size() < beams()) return false;
    return beams() == 1 || penalised(running_[0].score, length) <= finished_.back().score;
  }

  const BeamOptions* options_;
  std::vector<std::int64_t> begin_;
  std::int64_t max_tokens_;
  std::vector<Beam> running_;         // best first, all of one length
  std::vector<BeamResult> finished_;  // best first
  bool done_ = false;
};

class BeamSearch {
 public:
  BeamSearch(const Model& model, const std::vector<std::vector<std::int64_t>>& inputs, const BeamOptions& options)
      : decoder_(model, {.format = options.cache, .page_tokens = page_tokens}),
        inputs_(inputs),
        options_(options),
        results_(inputs.size()) {}

  std::vector<BeamResult> all(const Run& run) {
    while (enter(), !active_.empty()) {
      step(run);
      std::erase_if(active_, [&](const Active& a) {
        if (a.search.done()) results_[a.number] = a.search.best();
        return a.search.done();
      });
      run.report({.doing = "decoding",
                  .done = static_cast<std::int64_t>(entered_ - active_.size()),
                  .total = static_cast<std::int64_t>(inputs_.size()),
                  .unit = "texts",
                  .detail = ""});
    }
    return std::move(results_);
  }

 private:
  struct Active {
    std::size_t number;
    Search search;
  };

  void enter() {
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(1, options_.sequences_together / options_.beams));
    const std::size_t first = entered_;
    const std::size_t end = std::min(inputs_.size(), first + room - std::min(room, active_.size()));
    if (first == end) return;
    const ModelFacts& facts = decoder_.model().facts();
    const std::vector<std::vector<std::int64_t>> entering(inputs_.begin() + static_cast<std::ptrdiff_t>(first),
                                                          inputs_.begin() + static_cast<std::ptrdiff_t>(end));
    if (facts.head == HeadKind::sequence_to_sequence) {
      for (const Decoder::Sequence& begun : decoder_.begin(entering))
        active_.push_back({entered_++, Search(options_, begun, {facts.decoder_start_token_id.value()}, 0)});
      return;
    }
    std::vector<Decoder::Prompt> prompts;
    for (const std::vector<std::int64_t>& ids : entering) prompts.push_back({ids, planned(ids)});
    for (Decoder::Begun& begun : decoder_.begin(prompts))
      active_.push_back(
          {entered_++, Search(options_, begun.sequence, std::move(begun.left), decoder_.length(begun.sequence))});
  }

  /// How many tokens a prompt and its continuation may come to.
  std::int64_t planned(const std::vector<std::int64_t>& prompt) const {
    const std::int64_t most = static_cast<std::int64_t>(prompt.size()) + options_.max_tokens;
    return options_.longest > 0 ? std::min(most, options_.longest) : most;
  }

  static void heed(const Run& run) {
    if (run.cancelled()) throw Cancelled("stopped: no result was written");
  }

  void step(const Run& run) {
    heed(run);
    std::vector<Decoder::Sequence> sequences;
    std::vector<std::vector<std::int64_t>> tokens;
    for (const Active& a : active_)
      for (const Beam& beam : a.search.running()) {
        sequences.push_back(beam.sequence);
        tokens.push_back(a.search.next_tokens(beam));
      }
    Tensor logits = decoder_.step(sequences, tokens);  // [beams of all searches, vocabulary]
    heed(run);                                         // with many beams a step takes seconds
    forbid(logits);
    Tensor log_probabilities = log_softmax(logits);
    const auto width = static_cast<std::size_t>(logits.dim(1));
    std::size_t row = 0;
    for (Active& a : active_) {
      heed(run);
      const std::size_t rows = a.search.running().size();
      std::vector<float> values;
      std::span<const float> all = log_probabilities.values<float>().subspan(row * width, rows * width);
      row += rows;
      if (a.search.next_is_last() && options_.forced_stop_id) {
        values.assign(rows * width, impossible);
        for (std::size_t r = 0; r < rows; ++r)
          values[r * width + static_cast<std::size_t>(*options_.forced_stop_id)] = 0;
        all = values;
      }
      a.search.advance(decoder_, all);
    }
  }

  void forbid(const Tensor& logits) const {
    std::span<float> values = logits.mutable_values<float>();
    for (std::int64_t row = 0; row < logits.dim(0); ++row)
      for (std::int64_t id : options_.forbidden_ids)
        values[static_cast<std::size_t>(row * logits.dim(1) + id)] = impossible;
  }

  Decoder decoder_;
  const std::vector<std::vector<std::int64_t>>& inputs_;
  const BeamOptions& options_;
  std::vector<BeamResult> results_;
  std::vector<Active> active_;
  std::size_t entered_ = 0;
};

}  // namespace

std::vector<BeamResult> beam_search(const Model& model, const std::vector<std::vector<std::int64_t>>& inputs,
                                    const BeamOptions& options, const Run& run) {
  check(options.beams >= 1 && options.beams <= most_beams, "num-beams is {}: give 1 to {}", options.beams, most_beams);
  check(options.max_tokens >= 1, "max-tokens is {}: give 1 or more", options.max_tokens);
  check(std::isfinite(options.length_penalty), "the length penalty is not a number");
  check(model.facts().head != HeadKind::sequence_to_sequence || model.facts().decoder_start_token_id.has_value(),
        "config.json has no decoder_start_token_id: a decoder needs a token to begin with");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check(!inputs[i].empty(), "input {} has no token: this model needs at least one", i);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check(options.longest == 0 || static_cast<std::int64_t>(inputs[i].size()) <= options.longest,
          "input {} has {} tokens: the model takes {}", i, inputs[i].size(), options.longest);
  check_tokens(model, inputs);
  check_tokens(model, {options.forbidden_ids});
  if (options.forced_stop_id) check_tokens(model, {{*options.forced_stop_id}});
  return BeamSearch(model, inputs, options).all(run);
}

}  // namespace attune
