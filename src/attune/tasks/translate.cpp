#include "attune/tasks/translate.h"

#include <algorithm>
#include <set>

#include "attune/base/error.h"
#include "attune/decode/alignment.h"
#include "attune/decode/beam_search.h"
#include "attune/tasks/generation_settings.h"

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

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
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

std::vector<Source> read_sources(const Bundle& bundle, std::span<const std::string_view> texts) {
  const std::int64_t longest = longest_sequence(bundle);
  std::vector<Source> sources;
  for (std::string_view text : texts) {
    Encoding encoding = bundle.text().encode(text);
    Ids ids(encoding.ids.begin(), encoding.ids.end());
    check(!ids.empty(), "text {} has no token: there is nothing to translate", sources.size() + 1);
    check(longest == 0 || static_cast<std::int64_t>(ids.size()) <= longest,
          "text {} has {} tokens and the model takes {}: divide it", sources.size() + 1, ids.size(), longest);
    sources.push_back({text, std::move(encoding), std::move(ids)});
  }
  return sources;
}

BeamOptions beam_options(const Bundle& bundle, const TranslationOptions& options) {
  GenerationSettings settings = GenerationSettings::read(bundle);
  BeamOptions beams{.beams = options.beams.value_or(settings.beams.value_or(4)),
                    .length_penalty = options.length_penalty.value_or(settings.length_penalty.value_or(1)),
                    .max_tokens = options.max_tokens.value_or(settings.max_length.value_or(512)),
                    .longest = bundle.model->facts().longest.value_or(0),
                    .stop_ids = settings.stop_ids,
                    .forced_stop_id = settings.forced_stop_id,
                    .forbidden_ids = settings.forbidden_ids};
  return beams;
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

}  // namespace

std::vector<Translation> translate(const Bundle& bundle, std::span<const std::string_view> texts,
                                   const TranslationOptions& options, const Run& run) {
  const ModelFacts& facts = bundle.model->facts();
  check(facts.head == HeadKind::sequence_to_sequence, "{} is no translator ({}): translate needs an encoder-decoder",
        bundle.path.string(), facts.model_type);
  std::vector<Source> sources = read_sources(bundle, texts);
  BeamOptions beams = beam_options(bundle, options);
  std::vector<Ids> ids;
  for (const Source& source : sources) ids.push_back(source.ids);
  std::vector<BeamResult> found = beam_search(*bundle.model, ids, beams, run);
  std::vector<Translation> translations;
  for (std::size_t begin = 0; begin < found.size(); begin += aligned_together) {
    if (run.cancelled()) throw Cancelled("stopped: no result was written");
    const std::size_t end = std::min(found.size(), begin + aligned_together);
    std::vector<Ids> read(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                          ids.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<Ids> written;
    for (std::size_t i = begin; i < end; ++i) written.push_back(found[i].ids);
    std::vector<Ids> looked_at = align(*bundle.model, read, written);
    for (std::size_t i = begin; i < end; ++i) {
      Ids said = found[i].ids;
      if (found[i].stopped) said.pop_back();  // not a part of the text, though a tokenizer might spell it out
      Written text(bundle.text(), said);
      translations.push_back({.text = text.text,
                              .score = found[i].score,
                              .alignment = pair_words(sources[i], text, looked_at[i - begin]),
                              .reason = found[i].stopped ? FinishReason::stop : FinishReason::length,
                              .tokens = static_cast<std::int64_t>(ids[i].size()),
                              .generated_tokens = static_cast<std::int64_t>(found[i].ids.size())});
    }
  }
  return translations;
}

}  // namespace attune
