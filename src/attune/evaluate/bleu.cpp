#include "attune/evaluate/bleu.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "attune/base/error.h"
#include "attune/evaluate/ngrams.h"
#include "attune/evaluate/words.h"
#include "attune/text/utf8.h"

namespace attune::evaluate {

namespace {

constexpr int orders = 4;

struct Names {
  const char* tokenizer[4] = {"13a", "intl", "char", "none"};
  const char* smoothing[4] = {"exp", "floor", "add-k", "none"};
};

int place_of(std::string_view name, const char* const (&names)[4], const char* what) {
  for (int i = 0; i < 4; ++i)
    if (name == names[i]) return i;
  fail("{} \"{}\" is not known: give {}, {}, {} or {}", what, name, names[0], names[1], names[2], names[3]);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }
/// ASCII's punctuation and symbols without ' , - and .
bool always_apart(char c) {
  return c != '\'' && c != ',' && c != '-' && c != '.' && is_ascii_punctuation(static_cast<unsigned char>(c));
}

/// Puts spaces around two neighbours that match, each taken once: where `around` is given, "a b" becomes "a b " or
/// " a b". Bytes do, since nothing but ASCII is looked for.
template <class First, class Second>
std::string part(const std::string& text, First first, Second second, bool before) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      out += text[i];
      continue;
    }
    if (before) out += ' ';
    out += text[i];
    out += ' ';
    out += text[++i];
    if (!before) out += ' ';
  }
  return out;
}

/// mteval-v13a.pl: stops are words unless they stand within a number, and a dash behind a digit is one.
std::string apart_13a(std::string text) {
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  if (text.find('&') != std::string::npos) {
    replace_all(text, "&quot;", "\"");
    replace_all(text, "&amp;", "&");
    replace_all(text, "&lt;", "<");
    replace_all(text, "&gt;", ">");
  }
  std::string out = " ";
  for (char c : text) {
    if (always_apart(c)) out += ' ';
    out += c;
    if (always_apart(c)) out += ' ';
  }
  out += ' ';
  const auto no_digit = [](char c) { return !is_digit(c); };
  out = part(out, no_digit, is_stop, false);
  out = part(out, is_stop, no_digit, true);
  return part(
      out, is_digit, [](char c) { return c == '-'; }, false);
}

bool is_kind(char32_t point, std::uint32_t mask) { return (U_GET_GC_MASK(static_cast<UChar32>(point)) & mask) != 0; }

/// The same of any two code points of a kind.
std::u32string part(const std::u32string& text, std::uint32_t number_apart, bool punctuation_first) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t punctuation = i + 1 < text.size() ? text[punctuation_first ? i : i + 1] : U' ';
    const char32_t other = i + 1 < text.size() ? text[punctuation_first ? i + 1 : i] : U' ';
    if (i + 1 == text.size() || !is_kind(punctuation, U_GC_P_MASK) || is_kind(other, number_apart)) {
      out += text[i];
      continue;
    }
    if (punctuation_first) out += U' ';
    out += text[i];
    out += U' ';
    out += text[++i];
    if (!punctuation_first) out += U' ';
  }
  return out;
}

/// mteval-v14.pl: punctuation is a word unless it stands within a number, and so is each symbol.
std::string apart_international(std::string_view text) {
  std::u32string points = part(code_points_of(text), U_GC_N_MASK, false);
  points = part(points, U_GC_N_MASK, true);
  std::string out;
  for (char32_t point : points) {
    const bool symbol = is_kind(point, U_GC_S_MASK);
    if (symbol) out += ' ';
    append_utf8(out, point);
    if (symbol) out += ' ';
  }
  return out;
}

std::vector<std::string> owned(const std::vector<std::string_view>& words) { return {words.begin(), words.end()}; }

/// Of an item's sums: lengths, then matches of each order, then n-grams of each order.
struct Sums {
  double length = 0, reference_length = 0;
  std::array<double, orders> matches = {}, totals = {};

  static constexpr std::size_t width = 2 + 2 * orders;
  explicit Sums(std::span<const double> sums) : length(sums[0]), reference_length(sums[1]) {
    for (std::size_t n = 0; n < orders; ++n) matches[n] = sums[2 + n], totals[n] = sums[2 + orders + n];
  }

  double brevity() const {
    if (length >= reference_length) return 1;
    return length > 0 ? std::exp(1 - reference_length / length) : 0;
  }
};

double default_value(BleuSmoothing smoothing) { return smoothing == BleuSmoothing::floor ? 0.1 : 1; }

/// Precisions in percent, and how many of them the mean goes over.
int precisions(Sums& s, const BleuOptions& options, std::span<double> precision) {
  const double value = options.smoothing_value.value_or(default_value(options.smoothing));
  double halved = 1;
  int over = orders;
  for (std::size_t n = 0; n < orders; ++n) {
    if (options.smoothing == BleuSmoothing::add_k && n > 0) s.matches[n] += value, s.totals[n] += value;
    if (s.totals[n] == 0) break;
    if (options.effective_order) over = static_cast<int>(n) + 1;
    if (s.matches[n] != 0)
      precision[n] = 100 * s.matches[n] / s.totals[n];
    else if (options.smoothing == BleuSmoothing::exponential)
      precision[n] = 100 / ((halved *= 2) * s.totals[n]);
    else if (options.smoothing == BleuSmoothing::floor)
      precision[n] = 100 * value / s.totals[n];
  }
  return over;
}

void figures_of(std::span<const double> sums, const BleuOptions& options, std::span<double> out) {
  Sums s(sums);
  std::fill(out.begin(), out.end(), 0.0);
  out[orders + 1] = s.brevity();
  out[orders + 2] = s.reference_length > 0 ? s.length / s.reference_length : 0;
  if (std::ranges::all_of(s.matches, [](double matches) { return matches == 0; })) return;
  std::span<double> precision = out.subspan(1, orders);
  const auto over = static_cast<std::size_t>(precisions(s, options, precision));
  double logarithms = 0;
  for (double p : precision.first(over)) {
    if (p == 0) return;
    logarithms += std::log(p);
  }
  out[0] = s.brevity() * std::exp(logarithms / static_cast<double>(over));
}

NgramCounts most_of(NgramCounts most, const NgramCounts& other) {
  for (const auto& [number, count] : other) most[number] = std::max(most[number], count);
  return most;
}

/// The nearest of the references' lengths, of equally near ones the shorter.
std::size_t nearest(std::size_t length, std::span<const std::size_t> lengths) {
  const auto distance = [&](std::size_t other) { return other > length ? other - length : length - other; };
  return *std::ranges::min_element(lengths, [&](std::size_t a, std::size_t b) {
    return distance(a) != distance(b) ? distance(a) < distance(b) : a < b;
  });
}

std::vector<std::int32_t> read(NgramNumbers& numbers, std::string_view text, const BleuOptions& options) {
  const std::string lower = options.lower_case ? lower_case(text) : std::string(text);
  std::vector<std::int32_t> tokens;
  for (const std::string& word : bleu_words(lower, options.tokenizer)) tokens.push_back(numbers.token(word));
  return tokens;
}

void add_item(const TextAndReferences& item, const BleuOptions& options, std::vector<double>& statistics) {
  NgramNumbers numbers;
  const std::vector<std::int32_t> written = read(numbers, item.prediction, options);
  const std::vector<NgramCounts> counts = numbers.count(written, orders);
  std::vector<NgramCounts> known(orders);
  std::vector<std::size_t> lengths;
  for (const std::string& reference : item.references) {
    const std::vector<std::int32_t> tokens = read(numbers, reference, options);
    const std::vector<NgramCounts> its = numbers.count(tokens, orders);
    for (std::size_t n = 0; n < orders; ++n) known[n] = most_of(std::move(known[n]), its[n]);
    lengths.push_back(tokens.size());
  }
  statistics.push_back(static_cast<double>(written.size()));
  statistics.push_back(static_cast<double>(nearest(written.size(), lengths)));
  for (std::size_t n = 0; n < orders; ++n) statistics.push_back(static_cast<double>(overlap(counts[n], known[n])));
  for (std::size_t n = 0; n < orders; ++n) statistics.push_back(static_cast<double>(total(counts[n])));
}

bool takes_value(BleuSmoothing smoothing) {
  return smoothing == BleuSmoothing::floor || smoothing == BleuSmoothing::add_k;
}

}  // namespace

BleuTokenizer bleu_tokenizer(std::string_view name) {
  return static_cast<BleuTokenizer>(place_of(name, Names{}.tokenizer, "BLEU's tokenizer"));
}

BleuSmoothing bleu_smoothing(std::string_view name) {
  return static_cast<BleuSmoothing>(place_of(name, Names{}.smoothing, "BLEU's smoothing"));
}

std::vector<std::string> bleu_words(std::string_view text, BleuTokenizer tokenizer) {
  text = strip_end(text);
  if (tokenizer == BleuTokenizer::mteval_13a) return owned(split_words(apart_13a(std::string(text))));
  if (tokenizer == BleuTokenizer::international) return owned(split_words(apart_international(text)));
  if (tokenizer == BleuTokenizer::none) return owned(split_words(text));
  std::vector<std::string> characters;
  for (char32_t point : code_points_of(text)) {
    if (is_space(point)) continue;
    append_utf8(characters.emplace_back(), point);
  }
  return characters;
}

SummedMetric bleu(std::span<const TextAndReferences> items, const BleuOptions& options) {
  check_references(items);
  check(!options.smoothing_value || takes_value(options.smoothing),
        "BLEU's smoothing \"{}\" has no value: leave it out, or take floor or add-k",
        Names{}.smoothing[static_cast<int>(options.smoothing)]);
  check(!options.smoothing_value || (*options.smoothing_value >= 0 && std::isfinite(*options.smoothing_value)),
        "BLEU's smoothing value is {}: give 0 or more", options.smoothing_value.value_or(0));
  SummedMetric metric{
      .names = {"bleu", "precision1", "precision2", "precision3", "precision4", "brevity penalty", "length ratio"},
      .width = Sums::width};
  for (const TextAndReferences& item : items) add_item(item, options, metric.statistics);
  metric.figures = [options](std::span<const double> sums, std::span<double> out) { figures_of(sums, options, out); };
  return metric;
}

std::string references_signature(std::span<const TextAndReferences> items) {
  const std::size_t count = items.empty() ? 0 : items[0].references.size();
  for (const TextAndReferences& item : items)
    if (item.references.size() != count) return "nrefs:var";
  return fmt::format("nrefs:{}", count);
}

std::string bleu_signature(std::span<const TextAndReferences> items, const BleuOptions& options) {
  std::string smoothing = Names{}.smoothing[static_cast<int>(options.smoothing)];
  if (takes_value(options.smoothing))
    smoothing += fmt::format("[{:.2f}]", options.smoothing_value.value_or(default_value(options.smoothing)));
  return fmt::format("{}|case:{}|eff:{}|tok:{}|smooth:{}", references_signature(items),
                     options.lower_case ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     Names{}.tokenizer[static_cast<int>(options.tokenizer)], smoothing);
}

}  // namespace attune::evaluate
