#include <algorithm>
#include <cmath>
#include <map>

#include "attune/text/unigram_trainer.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// All words as code points, each ended by 0, and for each place how often its word comes.
struct Text {
  std::vector<char32_t> points;
  std::vector<std::int64_t> counts;  // [points]
};

Text text_of(const std::vector<WordCount>& words) {
  Text text;
  for (const auto& [word, count] : words) {
    for (std::size_t i = 0; i < word.size();) text.points.push_back(next_code_point(word, i));
    text.points.push_back(0);
    text.counts.resize(text.points.size(), count);
  }
  return text;
}

/// How many characters two suffixes share, up to `longest` and to the end of their words.
std::int64_t common(const std::vector<char32_t>& points, std::uint32_t a, std::uint32_t b, std::int64_t longest) {
  std::int64_t length = 0;
  while (length < longest && points[a] == points[b] && points[a] != 0) ++length, ++a, ++b;
  return length;
}

/// The places of all characters, in the order of the `longest` characters that begin there.
std::vector<std::uint32_t> sorted_suffixes(const std::vector<char32_t>& points, std::int64_t longest) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < points.size(); ++i)
    if (points[i] != 0) places.push_back(i);
  std::sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t length = common(points, a, b, longest);
    const char32_t left = length == longest ? 0 : points[a + static_cast<std::uint32_t>(length)];
    const char32_t right = length == longest ? 0 : points[b + static_cast<std::uint32_t>(length)];
    return left != right ? left < right : a < b;
  });
  return places;
}

struct Candidate {
  std::int64_t score;
  std::uint32_t place;
  std::uint32_t length;
};

/// Every string that is a branching of the suffix tree (Abouelhoda et al. 2004, algorithm 4.4), or the whole rest of a
/// word that comes more than once.
std::vector<Candidate> repeated(const Text& text, std::int64_t longest) {
  const std::vector<char32_t>& points = text.points;
  const std::vector<std::uint32_t> places = sorted_suffixes(points, longest);
  std::vector<Candidate> found;
  struct Open {
    std::int64_t length, count;
  };
  std::vector<Open> open{{0, 0}};
  std::int64_t before = 0;  // shared with the suffix before
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint32_t place = places[i];
    const std::int64_t count = text.counts[place];
    const std::int64_t behind = i + 1 < places.size() ? common(points, place, places[i + 1], longest) : 0;
    std::int64_t rest = 0;
    while (rest < longest && points[place + static_cast<std::uint32_t>(rest)] != 0) ++rest;
    if (count > 1 && rest > 1 && rest > std::max(before, behind))
      found.push_back({count * rest, place, static_cast<std::uint32_t>(rest)});
    // Branchings that end here give their counts to the one around them.
    std::int64_t inner = count;
    if (behind > open.back().length) {
      open.push_back({behind, inner});
    } else {
      open.back().count += inner;
      while (open.back().length > behind) {
        const Open done = open.back();
        open.pop_back();
        if (done.length > 1)
          found.push_back({done.count * done.length, place, static_cast<std::uint32_t>(done.length)});
        if (open.back().length < behind) open.push_back({behind, 0});
        open.back().count += done.count;
      }
    }
    before = behind;
  }
  return found;
}

}  // namespace

std::vector<ScoredToken> unigram_seeds(const std::vector<WordCount>& words, const UnigramTraining& training) {
  const Text text = text_of(words);
  std::map<char32_t, std::int64_t> characters;
  for (std::size_t i = 0; i < text.points.size(); ++i)
    if (text.points[i] != 0) characters[text.points[i]] += text.counts[i];
  std::vector<std::pair<std::int64_t, char32_t>> ordered;
  for (const auto& [point, count] : characters) ordered.push_back({count, point});
  std::sort(ordered.rbegin(), ordered.rend());

  std::vector<ScoredToken> seeds;
  for (const auto& [count, point] : ordered) {
    seeds.push_back({"", static_cast<double>(count)});
    append_utf8(seeds.back().text, point);
  }
  std::vector<Candidate> candidates = repeated(text, training.longest);
  // Equal scores: as the strings are in the order of code points, which is that in which they were found but for
  // branchings, which come when they end; so the strings themselves decide.
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score > b.score;
    const auto begin = text.points.begin();
    return std::lexicographical_compare(begin + a.place, begin + a.place + a.length, begin + b.place,
                                        begin + b.place + b.length);
  });
  for (const Candidate& candidate : candidates) {
    if (static_cast<std::int64_t>(seeds.size()) >= training.seeds) break;
    seeds.push_back({"", static_cast<double>(candidate.score)});
    for (std::uint32_t i = 0; i < candidate.length; ++i)
      append_utf8(seeds.back().text, text.points[candidate.place + i]);
  }
  double sum = 0;
  for (const ScoredToken& seed : seeds) sum += seed.score;
  for (ScoredToken& seed : seeds) seed.score = std::log(seed.score) - std::log(sum);
  return seeds;
}

}  // namespace attune
