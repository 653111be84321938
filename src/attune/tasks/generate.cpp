#include "attune/tasks/generate.h"

#include <algorithm>

#include "attune/base/error.h"
#include "attune/decode/beam_search.h"
#include "attune/tasks/generation_settings.h"
#include "attune/tasks/stopped_text.h"

namespace attune {

namespace {

using Ids = std::vector<std::int64_t>;

/// One prompt's text while it is written.
class Writing {
 public:
  /// The decoder reads the prompt first: whether a space stands between the two depends on both.
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

std::vector<Ids> prompt_ids(const Bundle& bundle, std::span<const std::string_view> prompts,
                            const GenerationSettings& settings) {
  std::vector<Ids> ids;
  for (std::string_view prompt : prompts) {
    Encoding encoding = bundle.text().encode(prompt);
    ids.emplace_back(encoding.ids.begin(), encoding.ids.end());
    if (ids.back().empty() && settings.begin_id) ids.back().push_back(*settings.begin_id);
    check(!ids.back().empty(), "an empty prompt: this model has no begin token (bos_token_id), give it a text");
  }
  return ids;
}

/// All prompts' texts, however they are chosen.
class Texts {
 public:
  Texts(const Bundle& bundle, std::vector<Ids> prompts, const std::vector<std::string>& stops)
      : bundle_(bundle), prompts_(std::move(prompts)), results_(prompts_.size()) {
    for (const Ids& prompt : prompts_) writing_.emplace_back(bundle.text(), prompt, stops);
  }

  /// Sampling, or the most probable token each time: told token by token.
  void sample(const GenerateOptions& options, const Run& run, const TextSink& sink) {
    auto take = [&](std::int64_t number, std::int64_t id) {
      auto i = static_cast<std::size_t>(number);
      if (stops(options.stop_ids, id)) return true;
      std::string piece = writing_[i].push(id);
      if (sink && !piece.empty()) sink(i, piece);
      return !writing_[i].stopped();
    };
    std::vector<Generated> written = generate(*bundle_.model, prompts_, options, run, take);
    for (std::size_t i = 0; i < written.size(); ++i)
      finish(i, static_cast<std::int64_t>(written[i].ids.size()), written[i].reason, sink);
  }

  void search(const BeamOptions& options, const Run& run, const TextSink& sink) {
    std::vector<BeamResult> found = beam_search(*bundle_.model, prompts_, options, run);
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::string text;
      for (std::int64_t id : found[i].ids)
        if (!stops(options.stop_ids, id)) text += writing_[i].push(id);
      if (sink && !text.empty()) sink(i, text);
      finish(i, static_cast<std::int64_t>(found[i].ids.size()),
             found[i].stopped ? FinishReason::stop : FinishReason::length, sink);
    }
  }

  std::vector<GeneratedText> take() { return std::move(results_); }

 private:
  static bool stops(const Ids& stop_ids, std::int64_t id) { return std::ranges::find(stop_ids, id) != stop_ids.end(); }

  void finish(std::size_t i, std::int64_t written, FinishReason reason, const TextSink& sink) {
    std::string rest = writing_[i].finish();
    if (sink && !rest.empty()) sink(i, rest);
    results_[i] = {.text = std::string(writing_[i].text()),
                   .reason = writing_[i].stopped() ? FinishReason::stop : reason,
                   .tokens = static_cast<std::int64_t>(prompts_[i].size()),
                   .generated_tokens = written};
  }

  const Bundle& bundle_;
  std::vector<Ids> prompts_;
  std::vector<Writing> writing_;
  std::vector<GeneratedText> results_;
};

void check_room(const std::vector<Ids>& prompts, std::int64_t longest) {
  for (std::size_t i = 0; i < prompts.size(); ++i)
    check(longest == 0 || static_cast<std::int64_t>(prompts[i].size()) < longest,
          "prompt {} has {} tokens and the model takes {}, what it writes included: shorten it", i + 1,
          prompts[i].size(), longest);
}

}  // namespace

std::vector<GeneratedText> generate_texts(const Bundle& bundle, std::span<const std::string_view> prompts,
                                          const TextGeneration& options, const Run& run, const TextSink& sink) {
  const ModelFacts& facts = bundle.model->facts();
  check(facts.head == HeadKind::causal_lm, "{} is no causal language model ({}): generate continues texts with one",
        bundle.path.string(), facts.model_type);
  check(options.beams == 1 || options.sampling.temperature == 0,
        "{} beams and a temperature of {}: beam search does not sample, give one of the two", options.beams,
        options.sampling.temperature);
  GenerationSettings settings = GenerationSettings::read(bundle);
  const std::int64_t longest = longest_sequence(bundle);
  std::vector<Ids> ids = prompt_ids(bundle, prompts, settings);
  check_room(ids, longest);
  Texts texts(bundle, std::move(ids), options.stop);
  if (options.beams == 1)
    texts.sample({.max_tokens = options.max_tokens,
                  .longest = longest,
                  .stop_ids = settings.stop_ids,
                  .sampling = options.sampling,
                  .seed = options.seed,
                  .cache = options.cache},
                 run, sink);
  else
    texts.search({.beams = options.beams,
                  .length_penalty = settings.length_penalty.value_or(1),
                  .max_tokens = options.max_tokens,
                  .longest = longest,
                  .stop_ids = settings.stop_ids,
                  .cache = options.cache},
                 run, sink);
  return texts.take();
}

}  // namespace attune
