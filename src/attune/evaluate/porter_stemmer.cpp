#include "attune/evaluate/porter_stemmer.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace attune::evaluate {

namespace {

using Word = std::string;

/// Words that NLTK stems by list.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> irregular = {{{"sky", "sky"},
                                                                                      {"skies", "sky"},
                                                                                      {"dying", "die"},
                                                                                      {"lying", "lie"},
                                                                                      {"tying", "tie"},
                                                                                      {"news", "news"},
                                                                                      {"innings", "inning"},
                                                                                      {"inning", "inning"},
                                                                                      {"outings", "outing"},
                                                                                      {"outing", "outing"},
                                                                                      {"cannings", "canning"},
                                                                                      {"canning", "canning"},
                                                                                      {"howe", "howe"},
                                                                                      {"proceed", "proceed"},
                                                                                      {"exceed", "exceed"},
                                                                                      {"succeed", "succeed"}}};

bool consonant(std::string_view word, std::size_t i) {
  // A y is a vowel behind a consonant: in a run of them every other one.
  bool flip = false;
  while (word[i] == 'y' && i > 0) --i, flip = !flip;
  const bool own = word[i] == 'y' || std::string_view("aeiou").find(word[i]) == std::string_view::npos;
  return own != flip;
}

/// How often a vowel is followed by a consonant: m of [C](VC)^m[V].
int measure(std::string_view stem) {
  int m = 0;
  for (std::size_t i = 1; i < stem.size(); ++i) m += !consonant(stem, i - 1) && consonant(stem, i);
  return m;
}

bool has_vowel(std::string_view stem) {
  for (std::size_t i = 0; i < stem.size(); ++i)
    if (!consonant(stem, i)) return true;
  return false;
}

bool ends_double(std::string_view word) {
  const std::size_t n = word.size();
  return n >= 2 && word[n - 1] == word[n - 2] && consonant(word, n - 1);
}

/// *o of the paper: consonant, vowel, consonant other than w, x, y; NLTK's also the two-letter vowel and consonant.
bool ends_short(std::string_view word) {
  const std::size_t n = word.size();
  if (n == 2) return !consonant(word, 0) && consonant(word, 1);
  return n > 2 && consonant(word, n - 3) && !consonant(word, n - 2) && consonant(word, n - 1) && word[n - 1] != 'w' &&
         word[n - 1] != 'x' && word[n - 1] != 'y';
}

Word cut(const Word& word, std::string_view suffix, std::string_view instead) {
  return word.substr(0, word.size() - suffix.size()) + std::string(instead);
}

struct Rule {
  std::string_view suffix, instead;
};

/// The first rule whose suffix fits decides: applied where the stem's measure is above `above`.
Word apply(const Word& word, std::span<const Rule> rules, int above) {
  for (const Rule& rule : rules)
    if (word.ends_with(rule.suffix)) {
      const std::string_view stem = std::string_view(word).substr(0, word.size() - rule.suffix.size());
      return measure(stem) > above ? cut(word, rule.suffix, rule.instead) : word;
    }
  return word;
}

Word plurals(const Word& word) {
  if (word.ends_with("ies") && word.size() == 4) return cut(word, "ies", "ie");
  constexpr std::array<Rule, 4> rules = {{{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}}};
  return apply(word, rules, -1);
}

Word past_and_progressive(const Word& word) {
  if (word.ends_with("ied")) return cut(word, "ied", word.size() == 4 ? "ie" : "i");
  if (word.ends_with("eed")) {
    const Word stem = cut(word, "eed", "");
    return measure(stem) > 0 ? stem + "ee" : word;
  }
  Word stem;
  for (std::string_view suffix : {"ed", "ing"})
    if (stem.empty() && word.ends_with(suffix) && has_vowel(cut(word, suffix, ""))) stem = cut(word, suffix, "");
  if (stem.empty()) return word;
  for (std::string_view ending : {"at", "bl", "iz"})
    if (stem.ends_with(ending)) return stem + "e";
  if (ends_double(stem)) {
    const char last = stem.back();
    return last == 'l' || last == 's' || last == 'z' ? stem : stem.substr(0, stem.size() - 1);
  }
  return measure(stem) == 1 && ends_short(stem) ? stem + "e" : stem;
}

Word final_y(const Word& word) {
  const bool fits = word.size() > 2 && word.ends_with("y") && consonant(word, word.size() - 2);
  return fits ? cut(word, "y", "i") : word;
}

Word double_suffixes(const Word& word) {
  constexpr std::array<Rule, 21> rules = {
      {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
       {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
       {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
       {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
       {"fulli", "ful"}}};
  if (word.ends_with("alli") && measure(cut(word, "alli", "")) > 0) return double_suffixes(cut(word, "alli", "al"));
  for (const Rule& rule : rules)
    if (word.ends_with(rule.suffix)) return apply(word, rules, 0);
  // The l of "logi" counts with the stem.
  if (word.ends_with("logi") && measure(std::string_view(word).substr(0, word.size() - 3)) > 0)
    return cut(word, "logi", "log");
  return word;
}

Word adjectives(const Word& word) {
  constexpr std::array<Rule, 7> rules = {
      {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}};
  return apply(word, rules, 0);
}

Word residual_suffixes(const Word& word) {
  constexpr std::array<std::string_view, 19> suffixes = {"al",  "ance",  "ence", "er",  "ic",  "able", "ible",
                                                         "ant", "ement", "ment", "ent", "ion", "ou",   "ism",
                                                         "ate", "iti",   "ous",  "ive", "ize"};
  for (std::string_view suffix : suffixes) {
    if (!word.ends_with(suffix)) continue;
    const Word stem = cut(word, suffix, "");
    const bool fits = suffix != "ion" || (!stem.empty() && (stem.back() == 's' || stem.back() == 't'));
    return fits && measure(stem) > 1 ? stem : word;
  }
  return word;
}

Word final_letters(Word word) {
  if (word.ends_with("e")) {
    const Word stem = cut(word, "e", "");
    const int m = measure(stem);
    if (m > 1 || (m == 1 && !ends_short(stem))) word = stem;
  }
  const bool two = word.ends_with("ll") && measure(std::string_view(word).substr(0, word.size() - 1)) > 1;
  return two ? word.substr(0, word.size() - 1) : word;
}

}  // namespace

std::string porter_stem(std::string_view word) {
  for (const auto& [form, stem] : irregular)
    if (word == form) return std::string(stem);
  if (word.size() <= 2) return std::string(word);
  Word stem = final_y(past_and_progressive(plurals(Word(word))));
  return final_letters(residual_suffixes(adjectives(double_suffixes(stem))));
}

}  // namespace attune::evaluate
