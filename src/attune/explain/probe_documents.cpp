#include "attune/explain/probe_documents.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attune/base/error.h"

namespace attune::explain {

namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::size_t fewest_words = 16;

Ids encoded(const Tokenizer& tokenizer, std::string_view text) {
  const Encoding encoding = tokenizer.encode(text, {.add_special_tokens = false});
  return {encoding.ids.begin(), encoding.ids.end()};
}

/// Whether a token, alone, is a word of three lower-case letters or more, with a space before it where tokens hold
/// theirs.
bool is_word(const Tokenizer& tokenizer, std::int32_t id) {
  if (tokenizer.is_special(id)) return false;
  const std::int32_t ids[] = {id};
  std::string word = tokenizer.decode(ids);
  if (word.starts_with(' ')) word.erase(0, 1);
  if (word.size() < 3 || !std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; })) return false;
  return encoded(tokenizer, " " + word) == Ids{id};
}

void append(Ids& to, const Ids& more) { to.insert(to.end(), more.begin(), more.end()); }

/// `count` tokens of the text from a place drawn at random; from its beginning again where it ends.
Ids stretch(const ProbeText& text, std::int64_t count, RandomStream& random) {
  const auto all = static_cast<std::int64_t>(text.text.size());
  std::int64_t at = random.below(all);
  Ids ids;
  for (std::int64_t i = 0; i < count; ++i, at = (at + 1) % all) ids.push_back(text.text[static_cast<std::size_t>(at)]);
  return ids;
}

/// `count` words, no two the same.
Ids different_words(const ProbeText& text, std::int64_t count, RandomStream& random) {
  const auto all = static_cast<std::int64_t>(text.words.size());
  check(count <= all,
        "a document of this probe has {} different words, and there are {} to draw from: ask for fewer pairs or a "
        "shorter span (--pairs, --span), draw from more words (--words), or take a model with a larger tokenizer "
        "(tokenizer.vocab_size)",
        count, all);
  Ids words;
  while (static_cast<std::int64_t>(words.size()) < count) {
    const std::int64_t word = text.words[static_cast<std::size_t>(random.below(all))];
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return words;
}

void check_length(std::int64_t length) {
  check(length <= longest_probe, "a document of {} tokens: a probe's has {} at most", length, longest_probe);
}

std::int64_t place_at(double depth, std::int64_t filler) {
  check(depth >= 0 && depth <= 1, "a depth of {} is not within 0 and 1", depth);
  return std::llround(depth * static_cast<double>(filler));
}

std::int64_t pair_length(const ProbeText& text) {
  return static_cast<std::int64_t>(text.before_pair.size() + text.after_pair.size()) + 2;
}

/// Says one of the pairs that `words` holds in turn; returns where its value stands.
std::int64_t put_pair(const ProbeText& text, const Ids& words, std::int64_t pair, Ids& ids) {
  append(ids, text.before_pair);
  ids.push_back(words[static_cast<std::size_t>(2 * pair)]);
  ids.push_back(words[static_cast<std::size_t>(2 * pair + 1)]);
  append(ids, text.after_pair);
  return static_cast<std::int64_t>(ids.size() - text.after_pair.size()) - 1;
}

}  // namespace

ProbeText ProbeText::of(const Tokenizer& tokenizer, std::span<const std::string_view> texts, std::int64_t most_words,
                        const Run& run) {
  ProbeText probe;
  for (std::string_view text : texts) {
    if (run.cancelled()) throw Cancelled("stopped: the texts were not read to their end");
    append(probe.text, encoded(tokenizer, text));
  }
  check(!probe.text.empty(), "a probe needs text to hide its words in: there is not one token");
  for (std::int32_t id = 0; id < tokenizer.limit(); ++id)
    if (is_word(tokenizer, id)) probe.words.push_back(id);
  if (most_words > 0 && most_words < static_cast<std::int64_t>(probe.words.size()))
    probe.words.resize(static_cast<std::size_t>(most_words));
  check(probe.words.size() >= fewest_words,
        "a probe draws from tokens that are whole lower-case words, {} at least, and {} {} of them: {}", fewest_words,
        most_words > 0 ? "it was given" : "the tokenizer has", probe.words.size(),
        most_words > 0 && probe.words.size() == static_cast<std::size_t>(most_words)
            ? "let it draw from more (--words)"
            : "train the model with a larger tokenizer (tokenizer.vocab_size)");
  probe.before_pair = encoded(tokenizer, "\nRemember:");
  probe.after_pair = encoded(tokenizer, ".");
  return probe;
}

Asked needle_document(const ProbeText& text, const NeedleSizes& sizes, RandomStream& random) {
  check(sizes.pairs >= 1, "a needle probe of {} pairs: give 1 or more", sizes.pairs);
  check_length(sizes.length);
  const std::int64_t filler = sizes.length - (sizes.pairs + 1) * pair_length(text);
  check(
      filler >= 0,
      "pairs and the question, {} tokens each, need {} in all, and a document has {}: take longer ones (--lengths), or "
      "fewer --pairs",
      pair_length(text), (sizes.pairs + 1) * pair_length(text), sizes.length);
  const Ids words = different_words(text, 2 * sizes.pairs, random);  // key, value, key, value ...
  std::vector<std::pair<std::int64_t, std::int64_t>> needles;        // place in the filler, pair
  for (std::int64_t pair = 0; pair < sizes.pairs; ++pair)
    needles.emplace_back(pair == 0 ? place_at(sizes.depth, filler) : random.below(filler + 1), pair);
  std::ranges::sort(needles);
  const Ids around = stretch(text, filler, random);
  Asked document;
  std::int64_t from = 0;
  for (auto [place, pair] : needles) {
    document.ids.insert(document.ids.end(), around.begin() + from, around.begin() + place);
    put_pair(text, words, pair, document.ids);
    from = place;
  }
  document.ids.insert(document.ids.end(), around.begin() + from, around.end());
  document.places.push_back(put_pair(text, words, 0, document.ids));
  return document;
}

Asked copy_document(const ProbeText& text, const CopySizes& sizes, RandomStream& random) {
  check(sizes.span >= 2, "a copy probe repeats {} words: give 2 or more", sizes.span);
  check_length(sizes.length);
  const std::int64_t filler = sizes.length - 2 * sizes.span;
  check(filler >= 0,
        "a span of {} words does not fit a document of {} tokens twice: take longer ones (--lengths), or a shorter "
        "--span",
        sizes.span, sizes.length);
  const Ids words = different_words(text, sizes.span, random), around = stretch(text, filler, random);
  const std::int64_t place = place_at(sizes.depth, filler);
  Asked document;
  document.ids.assign(around.begin(), around.begin() + place);
  append(document.ids, words);
  document.ids.insert(document.ids.end(), around.begin() + place, around.end());
  append(document.ids, words);
  document.places.resize(static_cast<std::size_t>(sizes.span) - 1);
  std::iota(document.places.begin(), document.places.end(), sizes.length - sizes.span + 1);
  return document;
}

Asked repeated_words(const ProbeText& text, std::int64_t length, std::int64_t most, RandomStream& random) {
  check_length(length);
  check(most >= 3 && length > 3, "words to be repeated: {} of them in {} tokens, give 3 and more", most, length);
  const std::int64_t span = 3 + random.below(std::min(most, length - 1) - 2);
  const Ids words = different_words(text, span, random);
  Asked document;
  for (std::int64_t i = 0; i < length; ++i) {
    document.ids.push_back(words[static_cast<std::size_t>(i % span)]);
    if (i >= span) document.places.push_back(i);
  }
  return document;
}

Asked repeated_pairs(const ProbeText& text, std::int64_t length, std::int64_t most, RandomStream& random) {
  check_length(length);
  const std::int64_t fit = length / pair_length(text) - 1;
  check(most >= 1 && fit >= 1, "pairs to be asked for: {} of {} tokens and their questions in {} tokens", most,
        pair_length(text), length);
  const std::int64_t pairs = 1 + random.below(std::min(most, fit));
  const Ids words = different_words(text, 2 * pairs, random);
  Asked document;
  for (std::int64_t i = 0; i < length / pair_length(text); ++i) {
    const std::int64_t place = put_pair(text, words, i < pairs ? i : random.below(pairs), document.ids);
    if (i >= pairs) document.places.push_back(place);
  }
  return document;
}

}  // namespace attune::explain
