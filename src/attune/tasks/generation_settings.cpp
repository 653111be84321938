#include "attune/tasks/generation_settings.h"

#include <algorithm>
#include "attune/base/json_values.h"

#include "attune/base/log.h"
#include "attune/base/usage_error.h"
#include "attune/models/config_values.h"

namespace attune {

namespace {

std::optional<std::int64_t> one_token(const ConfigReader& c, const std::string& key) {
  std::vector<std::int64_t> ids = read_token_ids(c, key, {});
  if (ids.empty()) return std::nullopt;
  return ids.front();
}

/// One token each, and longer ones. An end token is never forbidden, as in transformers.
void read_bad_words(const ConfigReader& c, const std::vector<std::int64_t>& stop_ids, LogitRules& rules) {
  const Json& words = c.raw("bad_words_ids");
  if (words.is_null()) return;
  if (!words.is_array()) c.reject("bad_words_ids", "expected a list of lists of token ids");
  for (const Json& word : words) {
    if (!word.is_array() || word.empty() ||
        !std::ranges::all_of(word, [](const Json& id) { return id.is_number_integer(); }))
      c.reject("bad_words_ids", "expected a list of lists of token ids");
    const auto ids = word.get<std::vector<std::int64_t>>();
    if (ids.size() > 1)
      rules.forbidden_sequences.push_back(ids);
    else if (std::ranges::find(stop_ids, ids[0]) == stop_ids.end())
      rules.forbidden_ids.push_back(ids[0]);
  }
}

void read_rules(const ConfigReader& c, GenerationSettings& s) {
  s.rules.repetition_penalty = c.number_or("repetition_penalty", 1, {.above = 0});
  s.rules.no_repeat_ngram = c.integer_or("no_repeat_ngram_size", 0, {.at_least = 0});
  s.rules.min_length = c.integer_or("min_length", 0, {.at_least = 0});
  s.rules.min_tokens = c.integer_or("min_new_tokens", 0, {.at_least = 0});
  read_bad_words(c, s.stop_ids, s.rules);
  for (std::int64_t id : read_token_ids(c, "suppress_tokens", {})) s.rules.forbidden_ids.push_back(id);
  s.rules.forbidden_first_ids = read_token_ids(c, "begin_suppress_tokens", {});
}

/// A model that samples does so with transformers' default of 50 tokens, where its file says no other number.
void read_sampling(const ConfigReader& c, GenerationSettings& s) {
  Sampling said{.temperature = c.number_or("temperature", 1, {.at_least = 0}),
                .top_k = c.integer_or("top_k", 50, {.at_least = 0}),
                .top_p = c.number_or("top_p", 1, {.at_most = 1, .above = 0}),
                .min_p = c.number_or("min_p", 0, {.at_least = 0, .at_most = 1}),
                .typical_p = c.number_or("typical_p", 1, {.at_most = 1, .above = 0})};
  if (c.flag_or("do_sample", false)) s.sampling = said;
}

void read_beams(const ConfigReader& c, GenerationSettings& s) {
  if (c.has("num_beams")) s.beams = c.integer("num_beams", {.at_least = 1});
  if (c.has("num_beam_groups")) s.groups = c.integer("num_beam_groups", {.at_least = 1});
  if (c.has("diversity_penalty")) s.diversity_penalty = c.number("diversity_penalty", {.at_least = 0});
  if (c.has("length_penalty")) s.length_penalty = c.number("length_penalty");
  s.renormalise = c.flag_or("renormalize_logits", false);
  const Json& early = c.raw("early_stopping");
  if (early.is_null() || early == false) return;
  if (early != true && early != "never") c.reject("early_stopping", "expected true, false or \"never\"");
  s.early_stopping = early == true ? EarlyStopping::at_once : EarlyStopping::never;
}

void read_stop_texts(const ConfigReader& c, GenerationSettings& s) {
  if (const Json& stops = c.raw("stop_strings"); stops.is_string())
    s.stop_texts = {stops.get<std::string>()};
  else
    s.stop_texts = c.strings_or("stop_strings", {});
}

/// Keys that would change what is written, and that nothing here heeds.
void warn_of_unheeded(const ConfigReader& c) {
  const std::pair<const char*, Json> neutral[] = {{"encoder_repetition_penalty", 1.0},
                                                  {"encoder_no_repeat_ngram_size", 0},
                                                  {"exponential_decay_length_penalty", nullptr},
                                                  {"sequence_bias", nullptr},
                                                  {"guidance_scale", 1.0},
                                                  {"watermarking_config", nullptr},
                                                  {"epsilon_cutoff", 0.0},
                                                  {"eta_cutoff", 0.0},
                                                  {"top_h", nullptr},
                                                  {"penalty_alpha", 0.0},
                                                  {"dola_layers", nullptr},
                                                  {"constraints", nullptr},
                                                  {"force_words_ids", nullptr},
                                                  {"token_healing", false},
                                                  {"max_time", nullptr},
                                                  {"num_return_sequences", 1}};
  for (const auto& [key, value] : neutral) {
    const Json& said = c.raw(key);
    if (!said.is_null() && said != value)
      log_warning(fmt::format("{}: \"{}\" is {}: texts are written without it", c.source(), key, to_text(said)));
  }
}

/// Keys of memory, speed and what is returned: no token depends on them.
void ignore_harmless(const ConfigReader& c) {
  c.ignore({"transformers_version",
            "_from_model_config",
            "pad_token_id",
            "decoder_start_token_id",
            "use_cache",
            "cache_implementation",
            "cache_config",
            "max_cache_len",
            "use_mtp",
            "output_attentions",
            "output_hidden_states",
            "output_scores",
            "output_logits",
            "return_dict_in_generate",
            "remove_invalid_values",
            "is_assistant",
            "num_assistant_tokens",
            "num_assistant_tokens_schedule",
            "assistant_confidence_threshold",
            "prompt_lookup_num_tokens",
            "max_matching_ngram_size",
            "assistant_early_exit",
            "assistant_lookbehind",
            "target_lookbehind",
            "assistant_ensemble_weight",
            "speculation_type",
            "compile_config",
            "disable_compile",
            "continuous_batching_config",
            "low_memory",
            "prefill_chunk_size",
            "trust_remote_code"});
}

}  // namespace

GenerationSettings GenerationSettings::read(const Bundle& bundle) {
  Path own = bundle.path / "generation_config.json";
  bool published = std::filesystem::exists(own);
  ConfigReader c =
      published ? ConfigReader::file(own) : ConfigReader(*bundle.config, (bundle.path / "config.json").string());
  const ModelFacts& facts = bundle.model->facts();
  GenerationSettings s;
  s.stop_ids = published ? read_token_ids(c, "eos_token_id", facts.eos_token_ids) : facts.eos_token_ids;
  s.begin_id = one_token(c, "bos_token_id");
  s.decoder_begin_id = one_token(c, "decoder_start_token_id");
  if (!s.decoder_begin_id) s.decoder_begin_id = facts.decoder_start_token_id;
  if (!s.decoder_begin_id) s.decoder_begin_id = s.begin_id;
  s.forced_first_id = one_token(c, "forced_bos_token_id");
  s.forced_stop_id = one_token(c, "forced_eos_token_id");
  read_rules(c, s);
  read_sampling(c, s);
  read_beams(c, s);
  read_stop_texts(c, s);
  if (c.has("max_length")) s.max_length = c.integer("max_length", {.at_least = 1});
  if (c.has("max_new_tokens")) s.max_new_tokens = c.integer("max_new_tokens", {.at_least = 1});
  warn_of_unheeded(c);
  if (!published) return s;
  ignore_harmless(c);
  try {
    c.finish();
  } catch (const Error& unknown) {  // a key of other programs, or a slip: either way the user should know
    log_warning(unknown.what());
  }
  return s;
}

bool SamplingChoice::asks_for_sampling() const {
  return temperature
             ? *temperature > 0
             : top_k.value_or(0) > 0 || top_p.value_or(1) < 1 || min_p.value_or(0) > 0 || typical_p.value_or(1) < 1;
}

Sampling SamplingChoice::over(const Sampling& said) const {
  const double otherwise = said.temperature == 0 && asks_for_sampling() ? 1 : said.temperature;
  return {.temperature = temperature.value_or(otherwise),
          .top_k = top_k.value_or(said.top_k),
          .top_p = top_p.value_or(said.top_p),
          .min_p = min_p.value_or(said.min_p),
          .typical_p = typical_p.value_or(said.typical_p)};
}

LogitRules RulesChoice::over(LogitRules said) const {
  said.repetition_penalty = repetition_penalty.value_or(said.repetition_penalty);
  said.presence_penalty = presence_penalty.value_or(said.presence_penalty);
  said.frequency_penalty = frequency_penalty.value_or(said.frequency_penalty);
  said.no_repeat_ngram = no_repeat_ngram.value_or(said.no_repeat_ngram);
  if (min_tokens) said.min_tokens = *min_tokens, said.min_length = 0;
  return said;
}

void check_length(const RulesChoice& rules, std::optional<std::int64_t> max_tokens) {
  check_usage(!rules.min_tokens || !max_tokens || *rules.min_tokens <= *max_tokens,
              "--min-tokens is {} and --max-tokens {}: give less at least than at most", rules.min_tokens.value_or(0),
              max_tokens.value_or(0));
}

void check_sampling(const SamplingChoice& s, std::optional<std::int64_t> beams) {
  const bool searches = beams.value_or(1) > 1;
  check_usage(!searches || s.temperature.value_or(0) == 0,
              "--num-beams is {} and --temperature {}: beam search does not sample, give one of the two",
              beams.value_or(1), s.temperature.value_or(0));
  if (s.temperature != 0 && !searches) return;
  const auto refuse = [&](const char* option, double value, bool acts) {
    check_usage(!acts, "{} {} is of sampling, and {} is without: leave one of the two out", option, value,
                searches ? "--num-beams above 1" : "--temperature 0");
  };
  refuse("--top-k", static_cast<double>(s.top_k.value_or(0)), s.top_k.value_or(0) > 0);
  refuse("--top-p", s.top_p.value_or(1), s.top_p.value_or(1) < 1);
  refuse("--min-p", s.min_p.value_or(0), s.min_p.value_or(0) > 0);
  refuse("--typical-p", s.typical_p.value_or(1), s.typical_p.value_or(1) < 1);
}

void check_beams(const BeamChoice& choice, std::optional<std::int64_t> beams) {
  const std::int64_t results = choice.results, groups = choice.groups.value_or(1);
  check_usage(!beams || results <= *beams, "--num-results is {} and --num-beams {}: give 1 to as many as beams",
              results, beams.value_or(1));
  check_usage(!beams || *beams % groups == 0,
              "--num-beam-groups is {} and --num-beams {}: give a number of groups that divides the beams", groups,
              beams.value_or(1));
  check_usage(choice.groups != 1 || choice.diversity_penalty.value_or(0) == 0,
              "--diversity-penalty {} needs --num-beam-groups of 2 or more", choice.diversity_penalty.value_or(0));
}

BeamOptions beam_options(const GenerationSettings& settings, std::int64_t beams, const BeamChoice& choice,
                         const RulesChoice& rules) {
  BeamOptions options{.beams = beams,
                      .length_penalty = choice.length_penalty.value_or(settings.length_penalty.value_or(1)),
                      .stop_ids = settings.stop_ids,
                      .rules = rules.over(settings.rules),
                      .renormalise = settings.renormalise,
                      .early_stopping = settings.early_stopping,
                      .groups = choice.groups.value_or(1),
                      .diversity_penalty = choice.diversity_penalty.value_or(0)};
  // The files' groups are of the files' beams: another number of beams is another search.
  if (!choice.groups && settings.groups && settings.beams == beams) {
    options.groups = *settings.groups;
    options.diversity_penalty = choice.diversity_penalty.value_or(settings.diversity_penalty.value_or(0));
  }
  check_beams(choice, beams);
  check_usage(!choice.diversity_penalty || options.groups > 1 || options.diversity_penalty == 0,
              "--diversity-penalty {} needs --num-beam-groups of 2 or more", options.diversity_penalty);
  check_beams(options);
  return options;
}

std::int64_t longest_sequence(const Bundle& bundle) {
  std::int64_t own = bundle.model->facts().longest.value_or(0), said = bundle.contract.long_policy.longest;
  if (own == 0 || said == 0) return std::max(own, said);
  return std::min(own, said);
}

}  // namespace attune
