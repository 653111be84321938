#include "attune/tasks/generate.h"

#include <algorithm>

#include "attune/base/log.h"
#include "attune/base/stop.h"
#include "attune/base/usage_error.h"
#include "attune/decode/beam_search.h"
#include "attune/tasks/generation_settings.h"
#include "attune/tasks/stopped_text.h"

namespace attune {

namespace {

using Ids = std::vector<std::int64_t>;

/// One prompt's text while it is written.
class Writing {
 public:
  /// The decoder reads the prompt first: whether a space stands between the two depends on both. An empty prompt: the
  /// text stands alone.
  Writing(const Tokenizer& tokenizer, const Ids& prompt, const std::vector<std::string>& stops)
      : decoder_(tokenizer), text_(stops) {
    for (std::int64_t id : prompt) decoder_.push(static_cast<std::int32_t>(id));
  }
  std::string push(std::int64_t id) { return text_.push(decoder_.push(static_cast<std::int32_t>(id))); }
  std::string finish() {
    std::string fresh = text_.push(decoder_.finish());
    return fresh + text_.finish();
  }
  bool stopped() const { return text_.stopped(); }
  std::string_view text() const { return text_.text(); }

 private:
  StreamDecoder decoder_;
  StoppedText text_;
};

/// An empty prompt becomes the model's begin token.
std::vector<Ids> begun(std::vector<Ids> prompts, const GenerationSettings& settings) {
  for (Ids& prompt : prompts) {
    if (prompt.empty() && settings.begin_id) prompt.push_back(*settings.begin_id);
    check(!prompt.empty(), "an empty prompt: this model has no begin token (bos_token_id), give it a text");
  }
  return prompts;
}

/// All prompts' texts, however they are chosen.
class Texts {
 public:
  Texts(const Bundle& bundle, std::vector<Ids> prompts, bool apart, std::vector<std::string> stops)
      : bundle_(bundle),
        prompts_(std::move(prompts)),
        apart_(apart),
        stops_(std::move(stops)),
        results_(prompts_.size()) {}

  /// Sampling, or the most probable token each time: told token by token.
  void sample(const GenerateOptions& options, const Run& run, const TextSink& sink) {
    std::vector<Writing> writing;
    for (std::size_t i = 0; i < prompts_.size(); ++i) writing.push_back(begin(i));
    auto take = [&](std::int64_t number, std::int64_t id) {
      auto i = static_cast<std::size_t>(number);
      if (stops(options.stop_ids, id)) return true;
      std::string piece = writing[i].push(id);
      if (sink && !piece.empty()) sink(i, piece);
      return !writing[i].stopped();
    };
    std::vector<Generated> written = generate(*bundle_.model, prompts_, options, run, take);
    for (std::size_t i = 0; i < written.size(); ++i) {
      std::string rest = writing[i].finish();
      if (sink && !rest.empty()) sink(i, rest);
      results_[i] = result_of(i, writing[i], static_cast<std::int64_t>(written[i].ids.size()), written[i].reason);
    }
  }

  void search(BeamOptions options, std::size_t results, const Run& run, const TextSink& sink) {
    // A beam ends with the token that brings a stop text into what was written.
    std::vector<Writing> begun;
    for (std::size_t i = 0; i < prompts_.size() && !stops_.empty(); ++i) begun.push_back(begin(i));
    if (!stops_.empty())
      options.ends = [&begun](std::size_t input, std::span<const std::int64_t> written) {
        Writing writing = begun[input];
        for (std::int64_t id : written) writing.push(id);
        return writing.stopped();
      };
    std::vector<std::vector<BeamResult>> found = beam_search_all(*bundle_.model, prompts_, options, run);
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (std::size_t r = 0; r < std::min(results, found[i].size()); ++r) {
        Writing writing = begin(i);
        for (std::int64_t id : found[i][r].ids)
          if (!stops(options.stop_ids, id)) writing.push(id);
        writing.finish();
        GeneratedText one = result_of(i, writing, static_cast<std::int64_t>(found[i][r].ids.size()),
                                      found[i][r].stopped ? FinishReason::stop : FinishReason::length);
        one.score = found[i][r].score;
        if (r == 0)
          results_[i] = std::move(one);
        else
          results_[i].others.push_back(std::move(one));
      }
      if (sink && !results_[i].text.empty()) sink(i, results_[i].text);
    }
  }

  std::vector<GeneratedText> take() { return std::move(results_); }

 private:
  Writing begin(std::size_t i) const { return Writing(bundle_.text(), apart_ ? Ids() : prompts_[i], stops_); }
  static bool stops(const Ids& stop_ids, std::int64_t id) { return std::ranges::find(stop_ids, id) != stop_ids.end(); }

  GeneratedText result_of(std::size_t i, const Writing& writing, std::int64_t written, FinishReason reason) const {
    return {.text = std::string(writing.text()),
            .reason = writing.stopped() ? FinishReason::stop : reason,
            .tokens = static_cast<std::int64_t>(prompts_[i].size()),
            .generated_tokens = written};
  }

  const Bundle& bundle_;
  std::vector<Ids> prompts_;
  bool apart_;
  std::vector<std::string> stops_;
  std::vector<GeneratedText> results_;
};

void check_room(const std::vector<Ids>& prompts, std::int64_t longest, std::int64_t said) {
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto tokens = static_cast<std::int64_t>(prompts[i].size());
    check(longest == 0 || tokens < longest,
          "prompt {} has {} tokens and the model takes {}, what it writes included: shorten it", i + 1, tokens,
          longest);
    check(
        said == 0 || tokens < said,
        "prompt {} has {} tokens and the model's files say max_length {}, what it writes included: shorten it, or give "
        "--max-tokens",
        i + 1, tokens, said);
  }
}

std::int64_t lower_bound_of(std::int64_t a, std::int64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

/// How the texts are to be chosen: with one beam by sampling (or the most probable token), else by searching.
std::int64_t beams_of(const TextGeneration& options, const GenerationSettings& settings) {
  if (options.beams) return *options.beams;
  return options.sampling.asks_for_sampling() ? 1 : settings.beams.value_or(1);
}

void check_choice(const TextGeneration& options, std::int64_t beams) {
  check_sampling(options.sampling, beams);
  const BeamChoice& of_beams = options.beam_search;
  check_usage(
      beams > 1 ||
          (!of_beams.length_penalty && !of_beams.groups && !of_beams.diversity_penalty && of_beams.results == 1),
      "--length-penalty, --num-beam-groups, --diversity-penalty and --num-results are of beam search: give --num-beams "
      "of 2 or more");
}

}  // namespace

std::vector<GeneratedText> generate_texts(const Bundle& bundle, std::span<const std::string_view> prompts,
                                          const TextGeneration& options, const Run& run, const TextSink& sink) {
  const StopWithin stop(run);
  PromptTokens tokens;
  for (std::string_view prompt : prompts) {
    const Encoding encoding = bundle.text().encode(prompt);
    tokens.ids.emplace_back(encoding.ids.begin(), encoding.ids.end());
  }
  return continue_prompts(bundle, tokens, options, run, sink);
}

std::vector<GeneratedText> continue_prompts(const Bundle& bundle, const PromptTokens& prompts,
                                            const TextGeneration& options, const Run& run, const TextSink& sink) {
  const ModelFacts& facts = bundle.model->facts();
  check(facts.head == HeadKind::causal_lm, "{} is no causal language model ({}): texts are continued with one",
        bundle.path.string(), facts.model_type);
  GenerationSettings settings = GenerationSettings::read(bundle);
  settings.stop_ids.insert(settings.stop_ids.end(), prompts.stop_ids.begin(), prompts.stop_ids.end());
  const std::int64_t beams = beams_of(options, settings);
  check_choice(options, beams);
  if (beams > 1 && !options.beams && settings.sampling.temperature > 0)
    log_warning(fmt::format("{}: its files ask for sampling and for {} beams: beam search does not sample",
                            bundle.path.string(), beams));
  const bool free = options.max_tokens || settings.max_new_tokens;  // these come before the files' max_length
  const std::int64_t said = free ? 0 : settings.max_length.value_or(0);
  const std::int64_t usual = settings.max_new_tokens.value_or(prompts.usual_tokens);
  const std::int64_t max_tokens = options.max_tokens.value_or(usual);
  check_length(options.rules, max_tokens);
  std::vector<Ids> ids = begun(prompts.ids, settings);
  check_room(ids, longest_sequence(bundle), said);
  const std::int64_t longest = lower_bound_of(longest_sequence(bundle), said);
  std::vector<std::string> stops = options.stop;
  stops.insert(stops.end(), settings.stop_texts.begin(), settings.stop_texts.end());
  Texts texts(bundle, std::move(ids), prompts.apart, std::move(stops));
  if (beams == 1) {
    texts.sample({.max_tokens = max_tokens,
                  .longest = longest,
                  .stop_ids = settings.stop_ids,
                  .rules = options.rules.over(settings.rules),
                  .sampling = options.sampling.over(settings.sampling),
                  .seed = options.seed,
                  .cache = options.cache,
                  .kept = prompts.kept},
                 run, sink);
    return texts.take();
  }
  BeamOptions search = beam_options(settings, beams, options.beam_search, options.rules);
  search.max_tokens = max_tokens;
  search.longest = longest;
  search.cache = options.cache;
  texts.search(search, static_cast<std::size_t>(options.beam_search.results), run, sink);
  return texts.take();
}

}  // namespace attune
