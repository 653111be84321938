#include "attune/decode/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/decode/beam_group.h"
#include "attune/kernels/cpu/softmax.h"

namespace attune {

namespace {

constexpr std::int64_t page_tokens = 16;
constexpr float impossible = -std::numeric_limits<float>::infinity();

/// row - log(sum(exp(row))).
void normalise(std::span<float> row) {
  const auto width = static_cast<std::int64_t>(row.size());
  kernels::log_softmax(kernels::Rows<const float>{row.data(), 1, width, width},
                       kernels::Rows<float>{row.data(), 1, width, width});
}

void force(std::span<float> row, std::int64_t id) {
  std::fill(row.begin(), row.end(), impossible);
  row[static_cast<std::size_t>(id)] = 0;
}

/// What a search reads before its first choice.
struct Beginning {
  std::size_t input;                // its number
  std::vector<std::int64_t> given;  // all of it
  std::vector<std::int64_t> left;   // of it, for the first step
};

/// One input's search: its groups of beams.
class Search {
 public:
  Search(const BeamOptions& options, Decoder::Sequence sequence, Beginning beginning)
      : options_(&options), beginning_(std::move(beginning)), sequence_(sequence), max_tokens_(options.max_tokens) {
    const auto read = static_cast<std::int64_t>(beginning_.given.size());
    if (options.longest > 0) max_tokens_ = std::min(max_tokens_, std::max<std::int64_t>(1, options.longest - read));
  }

  bool done() const {
    return !groups_.empty() && std::ranges::all_of(groups_, [](const BeamGroup& group) { return group.done(); });
  }

  /// Adds what the next step reads: a row for each beam, one for all at first.
  void ask(std::vector<Decoder::Sequence>& sequences, std::vector<std::vector<std::int64_t>>& tokens) const {
    if (groups_.empty()) {
      sequences.push_back(sequence_);
      tokens.push_back(beginning_.left);
    }
    for (const BeamGroup& group : groups_)
      for (const BeamGroup::Beam& beam : group.running()) {
        sequences.push_back(beam.sequence);
        tokens.push_back({beam.ids.back()});
      }
  }

  /// The groups of the first step.
  void begin(Decoder& decoder) {
    if (!groups_.empty()) return;
    first_ = true;
    groups_.emplace_back(*options_, beginning_.input, max_tokens_, sequence_);
    for (std::int64_t g = 1; g < options_->groups; ++g)
      groups_.emplace_back(*options_, beginning_.input, max_tokens_, decoder.fork(sequence_));
  }

  /// Each group chooses its next tokens; searches may do this at the same time. `scores`: logits [rows asked for,
  /// vocabulary]; what comes of them is written over them.
  void choose(std::span<float> scores, std::size_t width) {
    std::vector<std::int64_t> chosen;  // by the beams of earlier groups
    std::size_t row = 0;
    for (BeamGroup& group : groups_) {
      if (group.done()) continue;
      const std::size_t rows = group.running().size();
      std::vector<float> own;
      std::span<float> its = scores.subspan(row * width, rows * width);
      if (first_ && groups_.size() > 1) {
        own.assign(its.begin(), its.end());  // the groups share one row
        its = own;
      } else {
        row += rows;
      }
      for (std::size_t b = 0; b < rows; ++b) judge(its.subspan(b * width, width), group.running()[b].ids, chosen);
      group.choose(its);
      for (std::int64_t token : group.chosen()) chosen.push_back(token);
    }
    first_ = false;
  }

  void move_on(Decoder& decoder) {
    for (BeamGroup& group : groups_) group.move_on(decoder);
  }

  std::vector<BeamResult> results() const {
    std::vector<BeamResult> all;
    for (const BeamGroup& group : groups_) all.insert(all.end(), group.finished().begin(), group.finished().end());
    std::stable_sort(all.begin(), all.end(),
                     [](const BeamResult& a, const BeamResult& b) { return a.score > b.score; });
    return all;
  }

 private:
  /// What the rules make of a beam's row, in transformers' order.
  void judge(std::span<float> row, const std::vector<std::int64_t>& ids,
             const std::vector<std::int64_t>& chosen) const {
    const bool changed = options_->rules.any() || options_->diversity_penalty != 0;
    const bool again = options_->beams == 1 || (options_->renormalise && changed);
    // All rules but the penalty of repetition find the same, whatever constant is added to a row.
    if (options_->beams > 1 && (!again || options_->rules.repetition_penalty != 1)) normalise(row);
    for (std::int64_t token : chosen) {
      float& score = row[static_cast<std::size_t>(token)];
      score = static_cast<float>(static_cast<double>(score) - options_->diversity_penalty);
    }
    apply_rules(options_->rules, {beginning_.given, ids}, options_->stop_ids, row);
    if (options_->forced_first_id && ids.empty()) force(row, *options_->forced_first_id);
    const bool last = static_cast<std::int64_t>(ids.size()) + 1 == max_tokens_;
    if (options_->forced_stop_id && last) force(row, *options_->forced_stop_id);
    if (again) normalise(row);
  }

  const BeamOptions* options_;
  Beginning beginning_;
  Decoder::Sequence sequence_;
  std::int64_t max_tokens_;
  std::vector<BeamGroup> groups_;  // none before the first step
  bool first_ = false;
};

class BeamSearch {
 public:
  BeamSearch(const Model& model, const std::vector<std::vector<std::int64_t>>& inputs, const BeamOptions& options)
      : decoder_(model, {.format = options.cache, .page_tokens = page_tokens}),
        inputs_(inputs),
        options_(options),
        results_(inputs.size()) {}

  std::vector<std::vector<BeamResult>> all(const Run& run) {
    while (enter(), !active_.empty()) {
      step(run);
      std::erase_if(active_, [&](const Active& a) {
        if (a.search.done()) results_[a.number] = a.search.results();
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
      const std::vector<std::int64_t> start = {options_.begin_id ? *options_.begin_id : *facts.decoder_start_token_id};
      for (const Decoder::Sequence& begun : decoder_.begin(entering)) {
        active_.push_back({entered_, Search(options_, begun, {entered_, start, start})});
        ++entered_;
      }
      return;
    }
    std::vector<Decoder::Prompt> prompts;
    for (const std::vector<std::int64_t>& ids : entering) prompts.push_back({ids, planned(ids)});
    for (Decoder::Begun& begun : decoder_.begin(prompts)) {
      active_.push_back(
          {entered_, Search(options_, begun.sequence, {entered_, inputs_[entered_], std::move(begun.left)})});
      ++entered_;
    }
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
    std::vector<std::size_t> ends;  // of each search's rows
    for (const Active& a : active_) {
      a.search.ask(sequences, tokens);
      ends.push_back(sequences.size());
    }
    Tensor logits = decoder_.step(sequences, tokens);  // [beams of all searches, vocabulary]
    heed(run);                                         // with many beams a step takes seconds
    const auto width = static_cast<std::size_t>(logits.dim(1));
    const std::span<float> values = logits.mutable_values<float>();
    for (Active& a : active_) a.search.begin(decoder_);
    parallel(static_cast<std::int64_t>(active_.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        const std::size_t row = i == 0 ? 0 : ends[i - 1];
        if (!run.cancelled()) active_[i].search.choose(values.subspan(row * width, (ends[i] - row) * width), width);
      }
    });
    heed(run);
    for (Active& a : active_) a.search.move_on(decoder_);
  }

  Decoder decoder_;
  const std::vector<std::vector<std::int64_t>>& inputs_;
  const BeamOptions& options_;
  std::vector<std::vector<BeamResult>> results_;
  std::vector<Active> active_;
  std::size_t entered_ = 0;
};

void check_forced(const Model& model, const BeamOptions& options) {
  check_tokens(model, {options.rules.forbidden_ids});
  for (const auto& forced : {options.begin_id, options.forced_first_id, options.forced_stop_id})
    if (forced) check_tokens(model, {{*forced}});
}

}  // namespace

void check_beams(const BeamOptions& o) {
  check(o.beams >= 1 && o.beams <= most_beams, "num-beams is {}: give 1 to {}", o.beams, most_beams);
  check(o.groups >= 1 && o.groups <= o.beams && o.beams % o.groups == 0,
        "num-beam-groups is {} and num-beams {}: give a number of groups that divides the beams", o.groups, o.beams);
  check(o.diversity_penalty >= 0 && std::isfinite(o.diversity_penalty), "diversity-penalty is {}: give 0 or more",
        o.diversity_penalty);
  check(o.diversity_penalty == 0 || o.groups > 1, "a diversity-penalty of {} needs num-beam-groups of 2 or more",
        o.diversity_penalty);
  check(o.max_tokens >= 1, "max-tokens is {}: give 1 or more", o.max_tokens);
  check(std::isfinite(o.length_penalty), "the length penalty is not a number");
  check_rules(o.rules);
}

std::vector<std::vector<BeamResult>> beam_search_all(const Model& model,
                                                     const std::vector<std::vector<std::int64_t>>& inputs,
                                                     const BeamOptions& options, const Run& run) {
  check_beams(options);
  check(model.facts().head != HeadKind::sequence_to_sequence || options.begin_id ||
            model.facts().decoder_start_token_id.has_value(),
        "config.json has no decoder_start_token_id: a decoder needs a token to begin with");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check(!inputs[i].empty(), "input {} has no token: this model needs at least one", i);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check(options.longest == 0 || static_cast<std::int64_t>(inputs[i].size()) <= options.longest,
          "input {} has {} tokens: the model takes {}", i, inputs[i].size(), options.longest);
  check_tokens(model, inputs);
  check_forced(model, options);
  return BeamSearch(model, inputs, options).all(run);
}

std::vector<BeamResult> beam_search(const Model& model, const std::vector<std::vector<std::int64_t>>& inputs,
                                    const BeamOptions& options, const Run& run) {
  std::vector<BeamResult> best;
  for (std::vector<BeamResult>& results : beam_search_all(model, inputs, options, run))
    best.push_back(std::move(results.front()));
  return best;
}

}  // namespace attune
