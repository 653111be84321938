#include "attune/api/attune.h"

#include <fmt/format.h>

#include <algorithm>

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/base/threads.h"
#include "attune/tasks/answer.h"
#include "attune/tasks/classify.h"
#include "attune/tasks/embed.h"
#include "attune/tasks/generate.h"
#include "attune/tasks/tag.h"
#include "attune/tasks/translate.h"
#include "attune/text/utf8.h"

namespace attune {

struct LoadedModel::Parts {
  Embedder embedder;            // its bundle is the model with the head that its config names
  std::string embedding_fault;  // why its files do not say how it embeds; empty: they do

  const Bundle& bundle() const { return embedder.bundle; }
  /// The model, if it can do that; else throws Error.
  const Bundle& able_to(const std::string& ability) const;
};

namespace {

using Texts = std::vector<std::string_view>;

Texts views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::vector<std::string> abilities_of(const Bundle& bundle) {
  const ModelFacts& facts = bundle.model->facts();
  if (!bundle.tokenizer) return {};
  std::vector<std::string> abilities;
  switch (facts.head) {
    case HeadKind::classify:
      abilities.push_back("classify");
      break;
    case HeadKind::tag:
      abilities.push_back("tag");
      break;
    case HeadKind::answer:
      abilities.push_back("answer");
      break;
    case HeadKind::causal_lm:
      abilities.push_back("generate");
      break;
    case HeadKind::sequence_to_sequence:
      abilities.push_back("translate");
      break;
    case HeadKind::masked_lm:
    case HeadKind::none:
      break;
  }
  if (!facts.decoder_start_token_id) abilities.push_back("embed");
  return abilities;
}

std::optional<LongPolicy::Kind> policy_of(LongTexts long_texts, bool may_overlap) {
  check(
      long_texts != LongTexts::stride || may_overlap,
      "LongTexts::stride is for tag and answer: what is embedded or classified is read in pieces by LongTexts::chunk");
  switch (long_texts) {
    case LongTexts::refuse:
      return LongPolicy::Kind::refuse;
    case LongTexts::chunk:
      return LongPolicy::Kind::chunk;
    case LongTexts::stride:
      return LongPolicy::Kind::stride;
    case LongTexts::as_model_says:
      break;
  }
  return {};
}

Labelled labelled(Classified one, const std::vector<std::string>& labels) {
  Labelled result{.label = std::move(one.label),
                  .confidence = one.confidence,
                  .scores = {},
                  .novelty = one.novelty,
                  .automatic = one.automatic,
                  .reasons = std::move(one.reasons),
                  .explained = std::move(one.explained),
                  .tokens = one.tokens,
                  .chunks = one.chunks};
  for (std::size_t c = 0; c < labels.size(); ++c) result.scores.emplace_back(labels[c], one.probabilities[c]);
  return result;
}

Tagged tagged(const TaggedText& one, std::string_view text) {
  Tagged result{.entities = {}, .tokens = one.tokens, .chunks = one.chunks};
  for (const Entity& e : one.entities)
    result.entities.push_back({.label = e.label,
                               .text = std::string(code_point_range(text, static_cast<std::size_t>(e.begin),
                                                                    static_cast<std::size_t>(e.end))),
                               .begin = e.begin,
                               .end = e.end,
                               .score = e.score});
  return result;
}

}  // namespace

const Bundle& LoadedModel::Parts::able_to(const std::string& ability) const {
  const std::vector<std::string> can = abilities_of(bundle());
  if (std::ranges::find(can, ability) != can.end()) return bundle();
  const ModelFacts& facts = bundle().model->facts();
  bundle().text();
  fail("{} can not {}: it is a {}, which can {}", bundle().path.string(), ability,
       facts.head == HeadKind::none ? facts.model_type + " without a head" : class_name(facts.model_type, facts.head),
       can.empty() ? "do nothing with texts here" : fmt::format("{}", fmt::join(can, " and ")));
}

LoadedModel::LoadedModel(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
LoadedModel::LoadedModel(LoadedModel&&) noexcept = default;
LoadedModel& LoadedModel::operator=(LoadedModel&&) noexcept = default;
LoadedModel::~LoadedModel() = default;

LoadedModel LoadedModel::open(const std::filesystem::path& model) {
  Parts parts{.embedder = {.bundle = load_bundle(model), .embedding = {}}, .embedding_fault = ""};
  try {
    parts.embedder.embedding = sentence_embedding_of(parts.bundle());
  } catch (const Error& error) {
    parts.embedding_fault = error.what();  // it may be here for something else
  }
  return LoadedModel(std::make_unique<const Parts>(std::move(parts)));
}

const std::string& LoadedModel::model_type() const { return parts_->bundle().model->facts().model_type; }

std::vector<std::string> LoadedModel::abilities() const { return abilities_of(parts_->bundle()); }

std::vector<std::string> LoadedModel::labels() const {
  const Bundle& bundle = parts_->bundle();
  if (bundle.model->facts().head == HeadKind::tag) return labels_of(*bundle.config, bundle.path.string());
  return bundle.contract.labels;
}

std::optional<std::int64_t> LoadedModel::longest() const {
  const ModelFacts& facts = parts_->bundle().model->facts();
  const std::int64_t longest = longest_sequence(parts_->bundle());
  // A sentence encoder's files may say less than its positions hold.
  if (facts.head == HeadKind::none && parts_->embedder.embedding.longest) return parts_->embedder.embedding.longest;
  return longest == 0 ? std::nullopt : std::optional(longest);
}

std::int64_t LoadedModel::count_tokens(std::string_view text) const {
  return static_cast<std::int64_t>(parts_->bundle().text().encode(text).size());
}

std::vector<Embedded> LoadedModel::embed(const std::vector<std::string>& texts, const EmbedSettings& settings) const {
  parts_->able_to("embed");
  check(parts_->embedding_fault.empty(), "{}", parts_->embedding_fault);
  EmbedOptions options{.prompt_name = settings.prompt_name,
                       .prompt = settings.prompt,
                       .normalize = settings.normalize,
                       .long_policy = policy_of(settings.long_texts, false)};
  if (settings.pooling) options.pooling = parse_sentence_pooling(*settings.pooling);
  std::vector<Embedded> results;
  for (TextEmbedding& one : attune::embed(parts_->embedder, views(texts), options, {}))
    results.push_back({.values = std::move(one.values), .tokens = one.tokens, .chunks = one.chunks});
  return results;
}

std::vector<Labelled> LoadedModel::classify(const std::vector<std::string>& texts, LongTexts long_texts) const {
  const Bundle& bundle = parts_->able_to("classify");
  const std::optional<LongPolicy::Kind> policy = policy_of(long_texts, false);
  std::vector<Labelled> results;
  if (texts.empty()) return results;
  for (Classified& one : attune::classify(bundle, views(texts), {}, policy))
    results.push_back(labelled(std::move(one), bundle.contract.labels));
  return results;
}

std::vector<Tagged> LoadedModel::tag(const std::vector<std::string>& texts, const TagSettings& settings) const {
  const Bundle& bundle = parts_->able_to("tag");
  const TagOptions options{.grouping = parse_entity_grouping(settings.grouping),
                           .long_policy = policy_of(settings.long_texts, true)};
  const std::vector<TaggedText> found = attune::tag(bundle, views(texts), options, {});
  std::vector<Tagged> results;
  for (std::size_t i = 0; i < found.size(); ++i) results.push_back(tagged(found[i], texts[i]));
  return results;
}

std::vector<Answered> LoadedModel::answer(const std::string& question, const std::vector<std::string>& texts,
                                          const AnswerSettings& settings) const {
  const Bundle& bundle = parts_->able_to("answer");
  const AnswerOptions options{.most_tokens = settings.most_tokens,
                              .may_have_none = settings.may_have_none,
                              .long_policy = policy_of(settings.long_texts, true)};
  std::vector<Question> questions;
  for (const std::string& text : texts) questions.push_back({question, text});
  std::vector<Answered> results;
  for (Answer& one : attune::answer(bundle, questions, options, {}))
    results.push_back({.text = std::move(one.text),
                       .begin = one.begin,
                       .end = one.end,
                       .score = one.score,
                       .tokens = one.tokens,
                       .chunks = one.chunks});
  return results;
}

Written LoadedModel::generate(const std::string& prompt, const WriteSettings& settings, const OnText& on_text) const {
  const Bundle& bundle = parts_->able_to("generate");
  const TextGeneration generation{.max_tokens = settings.max_tokens,
                                  .sampling = {.temperature = settings.temperature,
                                               .top_k = settings.top_k,
                                               .top_p = settings.top_p,
                                               .min_p = settings.min_p},
                                  .rules = {.repetition_penalty = settings.repetition_penalty},
                                  .beams = settings.beams,
                                  .stop = settings.stop,
                                  .seed = settings.seed};
  TextSink sink;
  if (on_text) sink = [&](std::size_t, std::string_view piece) { on_text(piece); };
  const std::string_view view = prompt;
  GeneratedText text = generate_texts(bundle, std::span(&view, 1), generation, {}, sink).front();
  return {.text = std::move(text.text),
          .finish_reason = name_of(text.reason),
          .tokens = text.tokens,
          .generated_tokens = text.generated_tokens};
}

std::vector<Translated> LoadedModel::translate(const std::vector<std::string>& texts,
                                               const TranslateSettings& settings) const {
  const Bundle& bundle = parts_->able_to("translate");
  const TranslationOptions options{.beams = settings.beams,
                                   .max_tokens = settings.max_tokens,
                                   .source_language = settings.source_language,
                                   .target_language = settings.target_language};
  std::vector<Translated> results;
  for (Translation& one : attune::translate(bundle, views(texts), options, {}))
    results.push_back({.text = std::move(one.text),
                       .score = one.score,
                       .alignment = std::move(one.alignment),
                       .finish_reason = name_of(one.reason),
                       .tokens = one.tokens,
                       .generated_tokens = one.generated_tokens});
  return results;
}

void use_threads(int threads) {
  static const int cores = num_threads();  // what they were at first
  set_num_threads(threads == 0 ? cores : threads);
}

void tell_warnings(std::function<void(const std::string& warning)> sink) {
  if (!sink) return set_log_sink({});
  set_log_sink([sink = std::move(sink)](LogLevel level, const std::string& message) {
    if (level >= LogLevel::warning) sink(message);
  });
}

std::string version() { return ATTUNE_VERSION; }

}  // namespace attune
