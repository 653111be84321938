#include "attune/data/duplicates.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"

namespace attune {

namespace {

constexpr std::size_t bands = 32, rows = 4, hashes = bands * rows;
constexpr double estimate_slack = 0.2;  // a signature's estimate is off by more with a probability below 1e-7

using Shingles = std::vector<std::uint32_t>;  // sorted, each once
using Signature = std::array<std::uint32_t, hashes>;

std::uint64_t mix(std::uint64_t x) {  // the finaliser of MurmurHash3
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

bool is_word_byte(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

/// Hashes of the words in order. A text without words is one word: its bytes.
std::vector<std::uint64_t> words_of(std::string_view text) {
  constexpr std::uint64_t basis = 0xcbf29ce484222325ULL, prime = 0x100000001b3ULL;  // FNV-1a
  std::vector<std::uint64_t> words;
  std::uint64_t hash = basis;
  auto end_word = [&] {
    if (hash != basis) words.push_back(mix(hash));
    hash = basis;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    // U+3000 and above have lead bytes of E3 and more: scripts that put no spaces between words.
    if (c >= 0xE3) end_word();
    if (!is_word_byte(c)) {
      end_word();
      continue;
    }
    if (c >= 'A' && c <= 'Z') c = static_cast<unsigned char>(c - 'A' + 'a');
    hash = (hash ^ c) * prime;
    if (c >= 0xE3) {
      while (i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xC0) == 0x80)
        hash = (hash ^ static_cast<unsigned char>(text[++i])) * prime;
      end_word();
    }
  }
  end_word();
  if (words.empty()) {
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    words.push_back(mix(hash));
  }
  return words;
}

Shingles shingles_of(std::string_view text, int shingle_words) {
  std::vector<std::uint64_t> words = words_of(text);
  std::size_t length = std::min(words.size(), static_cast<std::size_t>(shingle_words));
  Shingles shingles;
  shingles.reserve(words.size() - length + 1);
  for (std::size_t i = 0; i + length <= words.size(); ++i) {
    std::uint64_t hash = 0;
    for (std::size_t j = 0; j < length; ++j) hash = mix(hash + words[i + j]);
    shingles.push_back(static_cast<std::uint32_t>(hash >> 32));
  }
  std::ranges::sort(shingles);
  shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
  return shingles;
}

double jaccard(const Shingles& a, const Shingles& b) {
  std::size_t i = 0, j = 0, both = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j])
      ++both, ++i, ++j;
    else if (a[i] < b[j])
      ++i;
    else
      ++j;
  }
  return static_cast<double>(both) / static_cast<double>(a.size() + b.size() - both);
}

/// 128 random functions x -> high half of (x * multiplier + addend).
struct HashFunctions {
  std::array<std::uint64_t, hashes> multipliers, addends;

  HashFunctions() {
    RandomStream random(RandomKey{}.at("minhash"));
    auto bits = [&] { return static_cast<std::uint64_t>(random.bits()) << 32 | random.bits(); };
    for (auto& value : multipliers) value = bits() | 1;
    for (auto& value : addends) value = bits();
  }

  Signature operator()(const Shingles& shingles) const {
    Signature least;
    least.fill(std::numeric_limits<std::uint32_t>::max());
    for (std::uint32_t shingle : shingles) {
      std::uint64_t x = mix(shingle);
      for (std::size_t i = 0; i < hashes; ++i)
        least[i] = std::min(least[i], static_cast<std::uint32_t>((x * multipliers[i] + addends[i]) >> 32));
    }
    return least;
  }
};

std::uint64_t band_key(const Signature& signature, std::size_t band) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < rows; ++i) key = mix(key + signature[band * rows + i]);
  return key;
}

double estimate(const Signature& a, const Signature& b) {
  int equal = 0;
  for (std::size_t i = 0; i < hashes; ++i) equal += a[i] == b[i];
  return static_cast<double>(equal) / static_cast<double>(hashes);
}

class Search {
 public:
  Search(std::span<const std::string_view> texts, const DuplicateRule& rule,
         const std::function<bool(std::int64_t, std::int64_t)>& wanted,
         const std::function<void(const DuplicatePair&)>& found, const Run& run)
      : rule_(rule), wanted_(wanted), found_(found), run_(run), shingles_(texts.size()) {
    parallel(static_cast<std::int64_t>(texts.size()), 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end && !run_.cancelled(); ++i)
        shingles_[static_cast<std::size_t>(i)] = shingles_of(texts[static_cast<std::size_t>(i)], rule_.shingle_words);
    });
    heed();
  }

  void run() {
    exact();
    sign();
    std::vector<std::pair<std::uint64_t, std::size_t>> bucketed(distinct_.size());  // (key, place in distinct_)
    for (std::size_t band = 0; band < bands; ++band) {
      for (std::size_t i = 0; i < distinct_.size(); ++i) bucketed[i] = {keys_[i][band], i};
      std::ranges::sort(bucketed);
      for (std::size_t begin = 0; begin < bucketed.size();) {
        std::size_t end = begin + 1;
        while (end < bucketed.size() && bucketed[end].first == bucketed[begin].first) ++end;
        for (std::size_t i = begin; i < end; ++i, heed())
          for (std::size_t j = begin; j < i; ++j) compare(bucketed[j].second, bucketed[i].second, band);
        begin = end;
      }
    }
  }

 private:
  void heed() const {
    if (run_.cancelled()) throw Cancelled("stopped while looking for duplicates: nothing was written");
  }

  void exact() {
    std::vector<std::size_t> order(shingles_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      if (shingles_[a] != shingles_[b]) return shingles_[a] < shingles_[b];
      return a < b;
    });
    for (std::size_t begin = 0; begin < order.size();) {
      distinct_.push_back(order[begin]);
      std::size_t end = begin + 1;
      for (; end < order.size() && shingles_[order[end]] == shingles_[order[begin]]; ++end) {
        heed();
        auto a = static_cast<std::int64_t>(order[begin]), b = static_cast<std::int64_t>(order[end]);
        if (wanted_(a, b)) found_({a, b, 1.0});
      }
      begin = end;
    }
    std::ranges::sort(distinct_);
  }

  void sign() {
    static const HashFunctions functions;
    signatures_.resize(distinct_.size());
    keys_.resize(distinct_.size());
    parallel(static_cast<std::int64_t>(distinct_.size()), 64, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end) && !run_.cancelled(); ++i) {
        signatures_[i] = functions(shingles_[distinct_[i]]);
        for (std::size_t band = 0; band < bands; ++band) keys_[i][band] = band_key(signatures_[i], band);
      }
    });
    heed();
  }

  void compare(std::size_t i, std::size_t j, std::size_t band) {
    for (std::size_t earlier = 0; earlier < band; ++earlier)
      if (keys_[i][earlier] == keys_[j][earlier]) return;  // compared there
    auto a = static_cast<std::int64_t>(distinct_[i]), b = static_cast<std::int64_t>(distinct_[j]);
    if (!wanted_(a, b) || estimate(signatures_[i], signatures_[j]) < rule_.threshold - estimate_slack) return;
    double index = jaccard(shingles_[distinct_[i]], shingles_[distinct_[j]]);
    if (index >= rule_.threshold) found_({a, b, index});
  }

  const DuplicateRule& rule_;
  const std::function<bool(std::int64_t, std::int64_t)>& wanted_;
  const std::function<void(const DuplicatePair&)>& found_;
  const Run& run_;
  std::vector<Shingles> shingles_;
  std::vector<std::size_t> distinct_;  // texts, each standing for its exact duplicates; in order
  std::vector<Signature> signatures_;  // of distinct_
  std::vector<std::array<std::uint64_t, bands>> keys_;
};

}  // namespace

void find_duplicates(std::span<const std::string_view> texts, const DuplicateRule& rule,
                     const std::function<bool(std::int64_t, std::int64_t)>& wanted,
                     const std::function<void(const DuplicatePair&)>& found, const Run& run) {
  check(rule.threshold > 0 && rule.threshold <= 1,
        "finding duplicates: the threshold must be above 0 and at most 1, got {}", rule.threshold);
  check(rule.shingle_words >= 1, "finding duplicates: a shingle has at least one word, got {}", rule.shingle_words);
  Search(texts, rule, wanted, found, run).run();
}

double jaccard_of(std::string_view a, std::string_view b, int shingle_words) {
  return jaccard(shingles_of(a, shingle_words), shingles_of(b, shingle_words));
}

}  // namespace attune
