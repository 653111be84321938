#include "attune/tasks/translate.h"

#include <algorithm>
#include <set>

#include "attune/base/error.h"
#include "attune/base/stop.h"
#include "attune/decode/alignment.h"
#include "attune/decode/beam_search.h"
#include "attune/tasks/generation_settings.h"
#include "attune/tasks/languages.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

using Ids = std::vector<std::int64_t>;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Numbers of the words that the code points of a text belong to; -1 for spaces.
std::vector<std::int64_t> word_of_code_points(std::string_view text) {
  std::vector<std::int64_t> words;
  std::int64_t word = -1;
  bool inside = false;
  for (char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;
    if (!is_space(c) && !inside) ++word;
    inside = !is_space(c);
    words.push_back(inside ? word : -1);
  }
  return words;
}

std::int64_t first_word(const std::vector<std::int64_t>& words, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, words.size()); ++i)
    if (words[i] >= 0) return words[i];
  return -1;
}

/// The source word of each token; -1 for special tokens.
std::vector<std::int64_t> source_words(std::string_view text, const Encoding& encoding) {
  std::vector<std::int64_t> points = word_of_code_points(text), words;
  for (std::size_t t = 0; t < encoding.size(); ++t)
    words.push_back(encoding.special(t) ? -1
                                        : first_word(points, static_cast<std::size_t>(encoding.offsets[t].begin),
                                                     static_cast<std::size_t>(encoding.offsets[t].end)));
  return words;
}

/// A text from its tokens, and where in it each token's part stands, in code points.
struct Written {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> parts;

  Written(const Tokenizer& tokenizer, const Ids& ids) {
    StreamDecoder decoder(tokenizer);
    std::size_t begin = 0;
    auto put = [&](const std::string& piece) {
      text += piece;
      return std::exchange(begin, begin + code_points(piece));
    };
    for (std::int64_t id : ids) {
      std::size_t first = put(decoder.push(static_cast<std::int32_t>(id)));
      parts.emplace_back(first, begin);
    }
    put(decoder.finish());
  }
};

struct Source {
  std::string_view text;
  Encoding encoding;
  Ids ids;
};

/// Puts a language's token where the tokenizer's own stands around a text.
void say_language(Source& source, const Languages& languages, std::int64_t language) {
  bool said = false;
  for (std::size_t t = 0; t < source.ids.size(); ++t)
    if (source.encoding.special(t) && languages.has(source.ids[t])) source.ids[t] = language, said = true;
  check(said, "this model's tokenizer puts no language's token around a text: leave --source-lang out");
}

std::vector<Source> read_sources(const Bundle& bundle, std::span<const std::string_view> texts,
                                 const std::optional<std::string>& language) {
  const std::int64_t longest = longest_sequence(bundle);
  const Languages languages(bundle.text());
  std::optional<std::int64_t> language_id;
  if (language) language_id = languages.id_of(*language, "--source-lang");
  std::vector<Source> sources;
  for (std::string_view text : texts) {
    Encoding encoding = bundle.text().encode(text);
    Ids ids(encoding.ids.begin(), encoding.ids.end());
    check(!ids.empty(), "text {} has no token: there is nothing to translate", sources.size() + 1);
    check(longest == 0 || static_cast<std::int64_t>(ids.size()) <= longest,
          "text {} has {} tokens and the model takes {}: divide it", sources.size() + 1, ids.size(), longest);
    sources.push_back({text, std::move(encoding), std::move(ids)});
    if (language_id) say_language(sources.back(), languages, *language_id);
  }
  return sources;
}

/// A multilingual decoder begins with its language (mBART), or is made to write it first (mBART-50, M2M-100, NLLB).
void choose_language(const Bundle& bundle, const std::optional<std::string>& language, BeamOptions& beams) {
  const Languages languages(bundle.text());
  const bool begins_with_it = beams.begin_id && languages.has(*beams.begin_id);
  if (language) {
    const std::int64_t id = languages.id_of(*language, "--target-lang");
    if (begins_with_it) beams.begin_id = id;
    if (!begins_with_it || beams.forced_first_id) beams.forced_first_id = id;
  }
  check(languages.empty() || begins_with_it || beams.forced_first_id,
        "{} writes several languages, and its files do not say which: give --target-lang, one of {}",
        bundle.path.string(), languages.some());
}

BeamOptions search_options(const Bundle& bundle, const TranslationOptions& options) {
  GenerationSettings settings = GenerationSettings::read(bundle);
  const ModelFacts& facts = bundle.model->facts();
  // The files' max_length counts what the decoder begins with.
  const std::int64_t said = std::max<std::int64_t>(1, settings.max_length.value_or(513) - 1);
  const std::int64_t beams = options.beams.value_or(settings.beams.value_or(4));
  BeamOptions search = beam_options(settings, beams, options.beam_search, options.rules);
  search.max_tokens = options.max_tokens.value_or(settings.max_new_tokens.value_or(said));
  check_length(options.rules, search.max_tokens);
  search.longest = facts.longest.value_or(0);
  search.begin_id = settings.decoder_begin_id;
  search.forced_first_id = settings.forced_first_id;
  search.forced_stop_id = settings.forced_stop_id;
  choose_language(bundle, options.target_language, search);
  const bool may_stop =
      facts.pad_token_id && std::ranges::find(settings.stop_ids, *facts.pad_token_id) != settings.stop_ids.end();
  if (facts.pad_token_id && !may_stop) search.rules.forbidden_ids.push_back(*facts.pad_token_id);
  return search;
}

/// Word pairs, each once, in the order of the source.
std::vector<std::pair<std::int64_t, std::int64_t>> pair_words(const Source& source, const Written& written,
                                                              const Ids& looked_at) {
  std::vector<std::int64_t> from = source_words(source.text, source.encoding), to = word_of_code_points(written.text);
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t t = 0; t < written.parts.size(); ++t) {
    std::int64_t target = first_word(to, written.parts[t].first, written.parts[t].second);
    std::int64_t word = from[static_cast<std::size_t>(looked_at[t])];
    if (word >= 0 && target >= 0) pairs.emplace(word, target);
  }
  return {pairs.begin(), pairs.end()};
}

constexpr std::size_t aligned_together = 32;

/// One of the texts that were found for a source.
struct Found {
  std::size_t source;
  BeamResult result;
};

Translation translation_of(const Bundle& bundle, const Source& source, const Found& found, const Ids& looked_at) {
  Ids said = found.result.ids;
  if (found.result.stopped) said.pop_back();  // not a part of the text, though a tokenizer might spell it out
  Written text(bundle.text(), said);
  return {.text = text.text,
          .score = found.result.score,
          .alignment = pair_words(source, text, looked_at),
          .reason = found.result.stopped ? FinishReason::stop : FinishReason::length,
          .tokens = static_cast<std::int64_t>(source.ids.size()),
          .generated_tokens = static_cast<std::int64_t>(found.result.ids.size())};
}

}  // namespace

std::vector<Translation> translate(const Bundle& bundle, std::span<const std::string_view> texts,
                                   const TranslationOptions& options, const Run& run) {
  const StopWithin stop(run);
  const ModelFacts& facts = bundle.model->facts();
  check(facts.head == HeadKind::sequence_to_sequence, "{} is no translator ({}): translate needs an encoder-decoder",
        bundle.path.string(), facts.model_type);
  std::vector<Source> sources = read_sources(bundle, texts, options.source_language);
  BeamOptions beams = search_options(bundle, options);
  std::vector<Ids> ids;
  for (const Source& source : sources) ids.push_back(source.ids);
  std::vector<std::vector<BeamResult>> results = beam_search_all(*bundle.model, ids, beams, run);
  std::vector<Found> found;
  for (std::size_t i = 0; i < results.size(); ++i)
    for (std::size_t r = 0; r < std::min(results[i].size(), static_cast<std::size_t>(options.beam_search.results)); ++r)
      found.push_back({i, std::move(results[i][r])});
  std::vector<Translation> translations;
  for (std::size_t begin = 0; begin < found.size(); begin += aligned_together) {
    if (run.cancelled()) throw Cancelled("stopped: no result was written");
    const std::size_t end = std::min(found.size(), begin + aligned_together);
    std::vector<Ids> read, written;
    for (std::size_t i = begin; i < end; ++i) {
      read.push_back(ids[found[i].source]);
      written.push_back(found[i].result.ids);
    }
    std::vector<Ids> looked_at = align(*bundle.model, read, written, beams.begin_id);
    for (std::size_t i = begin; i < end; ++i) {
      Translation one = translation_of(bundle, sources[found[i].source], found[i], looked_at[i - begin]);
      if (translations.size() == found[i].source)
        translations.push_back(std::move(one));
      else
        translations.back().others.push_back(std::move(one));
    }
  }
  return translations;
}

}  // namespace attune
