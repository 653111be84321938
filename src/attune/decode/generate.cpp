#include "attune/decode/generate.h"

#include <algorithm>
#include <utility>

#include "attune/base/error.h"
#include "attune/base/stop.h"

namespace attune {

struct KeptTexts::Parts {
  std::optional<Decoder> decoder = {};
  const Model* model = nullptr;
  CacheFormat format = CacheFormat::f32;
  std::vector<Decoder::Sequence> sequences = {};
  std::int64_t tokens_shared = 0;
};

KeptTexts::KeptTexts() : parts_(std::make_unique<Parts>()) {}
KeptTexts::~KeptTexts() = default;
std::int64_t KeptTexts::tokens_shared() const { return parts_->tokens_shared; }

namespace {

constexpr std::int64_t prefill_tokens = 4096;  // of prompts that enter in one step, so that its memory is bounded

/// A prompt that is being continued.
struct Active {
  std::int64_t number;
  Decoder::Sequence sequence;
  std::vector<std::int64_t> next;  // what its next step reads: the prompt at first, then the newest token
};

class Generation {
 public:
  Generation(Decoder& decoder, const std::vector<std::vector<std::int64_t>>& prompts, const GenerateOptions& options,
             const TokenSink& sink)
      : decoder_(decoder), prompts_(prompts), options_(options), sink_(sink), results_(prompts.size()) {}

  std::vector<Generated> all(const Run& run) {
    std::int64_t written = 0;
    const StopWithin stop(run);
    while (enter(), !active_.empty()) {
      if (run.cancelled()) throw Cancelled("stopped: the texts were not finished");
      step();
      written += static_cast<std::int64_t>(active_.size());
      std::erase_if(active_, [&](const Active& a) { return a.next.empty(); });
      auto finished = static_cast<std::int64_t>(entered_ - active_.size());
      run.report({.doing = "generating",
                  .done = finished,
                  .total = static_cast<std::int64_t>(prompts_.size()),
                  .unit = "texts",
                  .detail = fmt::format("{} tokens", written)});
    }
    return std::move(results_);
  }

  /// What stays in the cache takes the place of what stayed there before. After a fault all of it leaves.
  void keep(KeptTexts::Parts& kept) {
    for (const Decoder::Sequence& sequence : std::exchange(kept.sequences, std::move(finished_)))
      decoder_.drop(sequence);
    kept.tokens_shared = shared_;
  }

 private:
  /// Lets prompts in while there is room. The first always enters, however long.
  void enter() {
    std::int64_t tokens = 0;
    std::vector<Decoder::Prompt> entering;
    while (entered_ < prompts_.size() &&
           static_cast<std::int64_t>(active_.size() + entering.size()) < options_.sequences_together) {
      tokens += static_cast<std::int64_t>(prompts_[entered_].size());
      if (tokens > prefill_tokens && !entering.empty()) break;
      entering.push_back({prompts_[entered_], planned(entered_)});
      ++entered_;
    }
    std::size_t number = entered_ - entering.size();
    for (Decoder::Begun& begun : decoder_.begin(entering)) {
      shared_ += decoder_.length(begun.sequence);
      active_.push_back({static_cast<std::int64_t>(number++), begun.sequence, std::move(begun.left)});
    }
  }

  /// How many tokens a prompt and its continuation may come to.
  std::int64_t planned(std::size_t number) const {
    const std::int64_t most = static_cast<std::int64_t>(prompts_[number].size()) + options_.max_tokens;
    return options_.longest > 0 ? std::min(most, options_.longest) : most;
  }

  void step() {
    std::vector<Decoder::Sequence> sequences;
    std::vector<std::vector<std::int64_t>> tokens;
    for (const Active& a : active_) {
      sequences.push_back(a.sequence);
      tokens.push_back(a.next);
    }
    Tensor logits = decoder_.step(sequences, tokens);  // [sequences, vocabulary]
    auto width = static_cast<std::size_t>(logits.dim(1));
    std::span<const float> values = logits.values<float>();
    for (std::size_t i = 0; i < active_.size(); ++i) take(active_[i], values.subspan(i * width, width));
  }

  void take(Active& a, std::span<const float> logits) {
    Generated& result = results_[static_cast<std::size_t>(a.number)];
    RandomKey key{.seed = options_.seed, .step = result.ids.size()};
    std::vector<float> ruled;
    if (options_.rules.any()) {
      ruled.assign(logits.begin(), logits.end());
      apply_rules(options_.rules, {prompts_[static_cast<std::size_t>(a.number)], result.ids}, options_.stop_ids, ruled);
      logits = ruled;
    }
    std::int64_t id = choose_token(logits, options_.sampling, key.at("token").at(static_cast<std::uint64_t>(a.number)));
    result.ids.push_back(id);
    a.next = {id};
    bool go_on = !sink_ || sink_(a.number, id);
    bool stop = !go_on || std::ranges::find(options_.stop_ids, id) != options_.stop_ids.end();
    auto prompt = static_cast<std::int64_t>(prompts_[static_cast<std::size_t>(a.number)].size());
    auto written = static_cast<std::int64_t>(result.ids.size());
    bool full = written == options_.max_tokens || (options_.longest > 0 && prompt + written >= options_.longest);
    if (!stop && !full) return;
    result.reason = stop ? FinishReason::stop : FinishReason::length;
    if (options_.kept)
      finished_.push_back(a.sequence);
    else
      decoder_.drop(a.sequence);
    a.next.clear();
  }

  Decoder& decoder_;
  std::vector<Decoder::Sequence> finished_;  // that stay in the cache
  std::int64_t shared_ = 0;                  // tokens of prompts that were not read again
  const std::vector<std::vector<std::int64_t>>& prompts_;
  const GenerateOptions& options_;
  const TokenSink& sink_;
  std::vector<Generated> results_;
  std::vector<Active> active_;
  std::size_t entered_ = 0;
};

}  // namespace

std::string name_of(FinishReason reason) { return reason == FinishReason::stop ? "stop" : "length"; }

std::vector<Generated> generate(const Model& model, const std::vector<std::vector<std::int64_t>>& prompts,
                                const GenerateOptions& options, const Run& run, const TokenSink& sink) {
  check_sampling(options.sampling);
  check_rules(options.rules);
  check(options.max_tokens >= 1, "max-tokens is {}: give 1 or more", options.max_tokens);
  check(options.sequences_together >= 1, "{} sequences together: give 1 or more", options.sequences_together);
  check_tokens(model, prompts);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    auto tokens = static_cast<std::int64_t>(prompts[i].size());
    check(tokens > 0, "prompt {} has no token: this model needs at least one to begin with", i);
    check(options.longest == 0 || tokens < options.longest,
          "prompt {} has {} tokens: the model takes {}, what it writes included", i, tokens, options.longest);
  }
  if (!options.kept) {
    Decoder decoder(model, {.format = options.cache});
    return Generation(decoder, prompts, options, sink).all(run);
  }
  KeptTexts::Parts& kept = options.kept->parts();
  check(!kept.model || (kept.model == &model && kept.format == options.cache),
        "texts that are kept are one model's, in one format of its cache");
  if (!kept.decoder) kept.decoder.emplace(model, DecoderCache{.format = options.cache});
  kept.model = &model;
  kept.format = options.cache;
  Generation generation(*kept.decoder, prompts, options, sink);
  try {
    std::vector<Generated> results = generation.all(run);
    generation.keep(kept);
    return results;
  } catch (...) {
    // Sequences are left in the midst of a step: begin anew.
    kept.sequences.clear();
    kept.decoder.reset();
    throw;
  }
}

}  // namespace attune
