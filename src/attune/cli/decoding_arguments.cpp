#include "attune/cli/decoding_arguments.h"

#include <algorithm>

#include "attune/base/log.h"
#include "attune/decode/beam_search.h"

namespace attune {

void declare_sampling(Arguments& arguments, SamplingChoice& sampling) {
  arguments.option("--temperature", sampling.temperature,
                   "above 0: sample, logits divided by it; 0: the most probable token each time", {.at_least = 0});
  arguments.option("--top-k", sampling.top_k, "sample among the k most probable tokens; 0: all", {.at_least = 0});
  arguments.option("--top-p", sampling.top_p, "sample among the fewest tokens whose probabilities reach p",
                   {.at_most = 1, .above = 0});
  arguments.option("--min-p", sampling.min_p, "sample among tokens at least p times as probable as the most probable",
                   {.at_least = 0, .at_most = 1});
  arguments.option("--typical-p", sampling.typical_p,
                   "sample among the fewest that reach p of those whose surprise is nearest the expected one",
                   {.at_most = 1, .above = 0});
}

void declare_rules(Arguments& arguments, RulesChoice& rules) {
  arguments.option("--repetition-penalty", rules.repetition_penalty,
                   "above 1: tokens of the text so far, the prompt's too, become less probable; 1: they do not",
                   {.above = 0});
  arguments.option("--presence-penalty", rules.presence_penalty, "subtracted from logits of tokens that were written");
  arguments.option("--frequency-penalty", rules.frequency_penalty, "the same, for each time that they were");
  arguments.option("--no-repeat-ngram", rules.no_repeat_ngram,
                   "so many tokens never stand in the text twice; 0: they may", {.at_least = 0});
  arguments.option("--min-tokens", rules.min_tokens, "no end token before so many tokens were written",
                   {.at_least = 0});
}

void declare_beam_search(Arguments& arguments, BeamChoice& beams) {
  arguments.option("--length-penalty", beams.length_penalty,
                   "beams: scores are divided by length^penalty; else as the model's files say, or 1");
  arguments.option("--num-beam-groups", beams.groups, "diverse beam search: divide the beams into so many groups",
                   {.at_least = 1, .at_most = most_beams});
  arguments.option("--diversity-penalty", beams.diversity_penalty,
                   "what a token costs for each beam of an earlier group that chose it at this place", {.at_least = 0});
  arguments.option("--num-results", beams.results, "the best so many texts of each input, as many as beams at most",
                   {.at_least = 1, .at_most = most_beams});
}

void check_decoding(const TextGeneration& options, const Session& session) {
  check_stops(options.stop);
  check_length(options.rules, options.max_tokens);
  check_sampling(options.sampling, options.beams);
  check_beams(options.beam_search, options.beams);
  const bool still = options.sampling.temperature == 0 || options.beams.value_or(1) > 1;
  check_usage(!session.seeded || !still, "--seed is of sampling, and {} is without: leave one of the two out",
              options.beams.value_or(1) > 1 ? "--num-beams above 1" : "--temperature 0");
}

void tell_idle_seed(const Bundle& bundle, const TextGeneration& options, const Session& session) {
  if (!session.seeded || options.sampling.asks_for_sampling()) return;
  const GenerationSettings settings = GenerationSettings::read(bundle);
  if (settings.sampling.temperature == 0 || settings.beams.value_or(1) > 1)
    log_warning("--seed changes nothing: no token is drawn; a --temperature above 0 asks for that");
}

void tell_unfinished(const Bundle& bundle, const std::vector<Document>& items,
                     const std::vector<GeneratedText>& texts) {
  const auto cut = [](const GeneratedText& one) { return one.reason == FinishReason::length; };
  const auto first = std::ranges::find_if(texts, cut);
  if (first == texts.end()) return;
  const std::int64_t longest = longest_sequence(bundle);
  const bool full = longest > 0 && first->tokens + first->generated_tokens >= longest;
  const std::string why =
      full ? fmt::format("the model's {} tokens are full", longest) : "--max-tokens says how many it may have";
  if (texts.size() == 1) {
    log_warning(fmt::format("the text ends after {} tokens, unfinished: {}", first->generated_tokens, why));
    return;
  }
  log_warning(fmt::format("{} of {} texts end unfinished, the first is that of {} after {} tokens: {}",
                          std::ranges::count_if(texts, cut), texts.size(),
                          items[static_cast<std::size_t>(first - texts.begin())].id, first->generated_tokens, why));
}

void check_stops(const std::vector<std::string>& stops) {
  check_usage(std::ranges::find(stops, "") == stops.end(), "--stop is empty: give a text, or leave it out");
}

}  // namespace attune
