#include "attune/text/unigram_trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

/// The derivative of log gamma, for x > 0 (Bernardo 1976, algorithm AS 103).
double digamma(double x) {
  double result = 0;
  for (; x < 7; x += 1) result -= 1 / x;
  x -= 0.5;
  const double square = 1 / (x * x);
  return result + std::log(x) +
         square * (1.0 / 24 - square * (7.0 / 960 - square * (31.0 / 8064 - square * (127.0 / 30720))));
}

/// A sum of exponentials, kept as its log.
class LogSum {
 public:
  void add(double x) {
    if (x == nothing) return;
    if (x <= largest_) {
      sum_ += std::exp(x - largest_);
    } else {
      sum_ = sum_ * std::exp(largest_ - x) + 1;
      largest_ = x;
    }
  }
  double value() const { return largest_ == nothing ? nothing : largest_ + std::log(sum_); }

 private:
  double largest_ = nothing, sum_ = 0;
};

/// Part of a word that one token covers.
struct Edge {
  std::uint32_t begin, end;
  std::int32_t token;
};

/// What one thread needs to look at a word.
struct Lattice {
  std::vector<Edge> edges;  // in the order of their beginnings
  std::vector<LogSum> forward, backward;
  std::vector<double> best;
  std::vector<std::int32_t> best_edge;  // [places], the edge of the best way there, or -1
};

class Trainer {
 public:
  Trainer(const std::vector<WordCount>& words, const UnigramTraining& training, const Run& run)
      : words_(words), training_(training), run_(run) {
    for (const auto& [word, count] : words_) {
      total_ += static_cast<double>(count);
      for (std::size_t i = 0; i < word.size();) {
        const std::size_t begin = i;
        i += utf8_length(word[i]);
        characters_.insert(word.substr(begin, i - begin));
      }
    }
    check(static_cast<std::int64_t>(characters_.size()) <= training_.vocab_size,
          "training a tokenizer: {} tokens are wanted, but the texts have {} characters; ask for more, or limit the "
          "alphabet",
          training_.vocab_size, characters_.size());
  }

  std::vector<ScoredToken> train() {
    run_.report({"finding tokens to begin with", 0, 0, "tokens", ""});
    tokens_ = unigram_seeds(words_, training_);
    const auto wanted = static_cast<std::size_t>(training_.vocab_size * 11 / 10);
    while (true) {
      build_trie();
      for (int round = 0; round < training_.rounds; ++round) improve();
      drop_dead();
      if (tokens_.size() <= wanted) break;
      const std::size_t before = tokens_.size();
      prune(std::max(wanted, static_cast<std::size_t>(static_cast<double>(before) * training_.shrinking)));
      if (tokens_.size() == before) break;  // no token has another way to be written
    }
    return finished();
  }

 private:
  static constexpr std::int64_t parts = 16;  // of the words, each with sums of its own

  void build_trie() {
    std::vector<std::pair<std::string_view, std::int32_t>> entries;
    double lowest = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      entries.push_back({tokens_[i].text, static_cast<std::int32_t>(i)});
      lowest = std::min(lowest, tokens_[i].score);
    }
    trie_ = ByteTrie(std::move(entries));
    unknown_score_ = lowest - 10;
  }

  double score_of(const Edge& edge) const {
    return edge.token < 0 ? unknown_score_ : tokens_[static_cast<std::size_t>(edge.token)].score;
  }

  /// All edges of a word but the token `without`; where no token covers just one character, an unknown one does.
  void find_edges(std::string_view word, std::int32_t without, std::vector<Edge>& edges) const {
    edges.clear();
    for (std::size_t begin = 0; begin < word.size();) {
      const std::size_t next = begin + utf8_length(word[begin]);
      bool alone = false;
      std::int32_t node = ByteTrie::root;
      for (std::size_t i = begin; i < word.size();) {
        node = trie_.child(node, word[i++]);
        if (node == ByteTrie::none) break;
        const std::int32_t token = trie_.value(node);
        if (token == ByteTrie::none || tokens_[static_cast<std::size_t>(token)].score == nothing) continue;
        alone |= i == next;
        if (token != without)
          edges.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(i), token});
      }
      if (!alone) edges.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(next), -1});
      begin = next;
    }
  }

  /// Adds how often each token is expected in a word that comes `count` times.
  void expect(std::string_view word, double count, Lattice& lattice, std::vector<double>& expected) const {
    find_edges(word, -1, lattice.edges);
    lattice.forward.assign(word.size() + 1, LogSum());
    lattice.backward.assign(word.size() + 1, LogSum());
    lattice.best.assign(word.size() + 1, nothing);  // the forward sums, once they are whole
    lattice.forward[0].add(0);
    lattice.backward[word.size()].add(0);
    std::uint32_t whole = ~std::uint32_t{0};
    for (const Edge& edge : lattice.edges) {
      if (edge.begin != whole) lattice.best[edge.begin] = lattice.forward[edge.begin].value();
      whole = edge.begin;
      lattice.forward[edge.end].add(lattice.best[edge.begin] + score_of(edge));
    }
    const double all = lattice.forward[word.size()].value();
    double behind = 0;
    // From the end backwards, an edge's end is whole before any edge that ends there is looked at.
    for (std::size_t i = lattice.edges.size(); i-- > 0;) {
      const Edge& edge = lattice.edges[i];
      behind = lattice.backward[edge.end].value();
      const double own = score_of(edge);
      lattice.backward[edge.begin].add(own + behind);
      if (edge.token >= 0)
        expected[static_cast<std::size_t>(edge.token)] +=
            count * std::exp(lattice.best[edge.begin] + own + behind - all);
    }
  }

  /// The best way through a word, as edges from its end; false where there is none.
  bool best_way(std::string_view word, std::int32_t without, Lattice& lattice, std::vector<Edge>& way) const {
    find_edges(word, without, lattice.edges);
    lattice.best.assign(word.size() + 1, nothing);
    lattice.best_edge.assign(word.size() + 1, -1);
    lattice.best[0] = 0;
    for (std::size_t i = 0; i < lattice.edges.size(); ++i) {
      const Edge& edge = lattice.edges[i];
      const double score = lattice.best[edge.begin] + score_of(edge);
      if (!(score > lattice.best[edge.end])) continue;
      lattice.best[edge.end] = score;
      lattice.best_edge[edge.end] = static_cast<std::int32_t>(i);
    }
    way.clear();
    for (std::size_t end = word.size(); end > 0; end = way.back().begin) {
      if (lattice.best_edge[end] < 0) return false;
      way.push_back(lattice.edges[static_cast<std::size_t>(lattice.best_edge[end])]);
    }
    return true;
  }

  /// Sums what `look(word, count, lattice, sums)` adds over all words: one number a token, and the same bits whatever
  /// the threads.
  template <class Look>
  std::vector<double> over_words(Look&& look) const {
    const auto count = static_cast<std::int64_t>(words_.size());
    const std::int64_t grain = std::max<std::int64_t>(1, (count + parts - 1) / parts);
    std::vector<std::vector<double>> sums(static_cast<std::size_t>((count + grain - 1) / grain));
    parallel(count, grain, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double>& own = sums[static_cast<std::size_t>(begin / grain)];
      own.assign(tokens_.size(), 0);
      Lattice lattice;
      for (std::int64_t i = begin; i < end; ++i) {
        const auto& [word, times] = words_[static_cast<std::size_t>(i)];
        look(word, static_cast<double>(times), lattice, own);
      }
    });
    std::vector<double> all(tokens_.size(), 0);
    for (const std::vector<double>& own : sums)
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += own[i];
    return all;
  }

  /// One round of expectation and maximisation; tokens that are expected less than half a time go.
  void improve() {
    if (run_.cancelled()) throw Cancelled("training the tokenizer was stopped");
    run_.report({"training the tokenizer", static_cast<std::int64_t>(tokens_.size()), 0, "tokens", ""});
    const std::vector<double> expected =
        over_words([&](std::string_view word, double count, Lattice& lattice, std::vector<double>& sums) {
          expect(word, count, lattice, sums);
        });
    double sum = 0;
    for (double one : expected) sum += one < 0.5 ? 0 : one;
    double lowest = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      tokens_[i].score = expected[i] < 0.5 ? nothing : digamma(expected[i]) - digamma(sum);
      if (tokens_[i].score != nothing) lowest = std::min(lowest, tokens_[i].score);
    }
    unknown_score_ = lowest - 10;
  }

  void drop_dead() {
    std::erase_if(tokens_, [](const ScoredToken& token) { return token.score == nothing; });
  }

  /// Keeps the tokens without which a word could be written in no other way, and of the others those up to `size` whose
  /// loss would cost the most likelihood: that of writing them with the second best way instead, all other counts as
  /// they are.
  void prune(std::size_t size) {
    build_trie();
    const std::vector<double> counts =
        over_words([&](std::string_view word, double count, Lattice& lattice, std::vector<double>& sums) {
          std::vector<Edge> way;
          best_way(word, -1, lattice, way);
          for (const Edge& edge : way)
            if (edge.token >= 0) sums[static_cast<std::size_t>(edge.token)] += count;
        });
    double sum = 0;
    for (double count : counts) sum += count;
    const double log_sum = std::log(sum);
    enum class Fate : std::uint8_t { keep, drop, compete };
    std::vector<Fate> fates(tokens_.size(), Fate::keep);
    std::vector<double> losses(tokens_.size(), 0);
    parallel(static_cast<std::int64_t>(tokens_.size()), 1024, [&](std::int64_t begin, std::int64_t end) {
      Lattice lattice;
      std::vector<Edge> way;
      for (std::int64_t t = begin; t < end; ++t) {
        const auto i = static_cast<std::size_t>(t);
        if (!best_way(tokens_[i].text, static_cast<std::int32_t>(t), lattice, way)) continue;
        if (lattice.best.back() > tokens_[i].score || counts[i] == 0) {
          fates[i] = counts[i] == 0 ? Fate::drop : Fate::keep;  // the other way is better than the token itself
          continue;
        }
        const double log_own = std::log(counts[i]) - log_sum;
        const double log_sum_without = std::log(sum + counts[i] * (static_cast<double>(way.size()) - 1));
        double log_instead = 0;
        for (const Edge& edge : way) {
          const double before = edge.token < 0 ? 0 : counts[static_cast<std::size_t>(edge.token)];
          log_instead += std::log(before + counts[i]) - log_sum_without;
        }
        fates[i] = Fate::compete;
        losses[i] = counts[i] / total_ * (log_own - log_instead);
      }
    });
    std::vector<ScoredToken> kept;
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (fates[i] == Fate::keep) kept.push_back(tokens_[i]);
      if (fates[i] == Fate::compete) candidates.push_back(i);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](std::size_t a, std::size_t b) { return losses[a] > losses[b]; });
    for (std::size_t i : candidates)
      if (kept.size() < size) kept.push_back(tokens_[i]);
    tokens_ = std::move(kept);
  }

  /// All characters, then the tokens whose loss would cost most, up to vocab_size.
  std::vector<ScoredToken> finished() const {
    std::vector<ScoredToken> result;
    std::set<std::string_view> taken;
    double lowest = 0;
    for (const ScoredToken& token : tokens_) {
      lowest = std::min(lowest, token.score);
      if (characters_.count(token.text)) result.push_back(token), taken.insert(token.text);
    }
    for (const std::string& character : characters_)  // dropped on the way, each a little above the one before
      if (!taken.count(character))
        result.push_back({character, lowest + 0.0001 * static_cast<double>(result.size() - taken.size())});
    for (const ScoredToken& token : tokens_)
      if (static_cast<std::int64_t>(result.size()) < training_.vocab_size && !taken.count(token.text))
        result.push_back(token);
    std::stable_sort(result.begin(), result.end(),
                     [](const ScoredToken& a, const ScoredToken& b) { return a.score > b.score; });
    return result;
  }

  const std::vector<WordCount>& words_;
  const UnigramTraining& training_;
  const Run& run_;
  double total_ = 0;  // words in the texts
  std::set<std::string, std::less<>> characters_;
  std::vector<ScoredToken> tokens_;
  ByteTrie trie_;
  double unknown_score_ = 0;
};

}  // namespace

std::vector<ScoredToken> train_unigram(const std::vector<WordCount>& words, const UnigramTraining& training,
                                       const Run& run) {
  return Trainer(words, training, run).train();
}

}  // namespace attune
