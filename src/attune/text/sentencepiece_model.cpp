#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <queue>

#include "attune/base/error.h"
#include "attune/text/sentencepiece.h"
#include "attune/text/string_table.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

using Type = SentencePiece::Type;

Vocabulary vocabulary_of(const SentencePieceFile& file) {
  std::vector<std::string> tokens;
  for (const SentencePiece& piece : file.pieces) tokens.push_back(piece.text);
  return Vocabulary::of_list(tokens);
}

/// A piece of a text and its id.
struct Part {
  std::uint32_t begin, end;
  std::int32_t id;
};

/// What the two kinds share: unknown pieces, which become bytes where there is byte fallback, or are joined to one.
class SentencePieceModel : public TokenizerModel {
 public:
  explicit SentencePieceModel(const SentencePieceFile& file)
      : TokenizerModel(vocabulary_of(file)), byte_fallback_(file.byte_fallback()) {
    std::vector<std::pair<std::string_view, std::int32_t>> ordinary;
    for (std::size_t i = 0; i < file.pieces.size(); ++i) {
      const SentencePiece& piece = file.pieces[i];
      const auto id = static_cast<std::int32_t>(i);
      scores_.push_back(piece.score);
      types_.push_back(piece.type);
      if (piece.type == Type::unknown) unknown_ = id;
      if (piece.type == Type::normal || piece.type == Type::user_defined || piece.type == Type::unused)
        ordinary.push_back({piece.text, id});
      if (piece.type == Type::byte)
        byte_ids_[static_cast<std::size_t>(std::stoi(piece.text.substr(3, 2), nullptr, 16))] = id;
    }
    trie_ = ByteTrie(std::move(ordinary));
  }

  void write(std::string&) const override {
    fail("a SentencePiece tokenizer is not written as tokenizer.json, whose parts do other things to some texts");
  }

 protected:
  float score(std::int32_t id) const { return scores_[static_cast<std::size_t>(id)]; }
  Type type(std::int32_t id) const { return types_[static_cast<std::size_t>(id)]; }

  void put(std::string_view word, const std::vector<Part>& parts, std::vector<Symbol>& symbols) const {
    bool behind_unknown = false;
    for (const Part& part : parts) {
      const std::uint32_t length = part.end - part.begin;
      const bool unknown = part.id == unknown_;
      if (unknown && byte_fallback_) {
        // The last byte stands for the whole character, those before it for nothing.
        for (std::uint32_t i = part.begin; i < part.end; ++i)
          symbols.push_back({byte_ids_[static_cast<unsigned char>(word[i])], i + 1 == part.end ? length : 0});
      } else if (unknown && behind_unknown) {
        symbols.back().length += length;
      } else {
        symbols.push_back({part.id, length});
      }
      behind_unknown = unknown;
    }
  }

  std::int32_t unknown_ = 0;
  ByteTrie trie_;  // of what texts hold

 private:
  bool byte_fallback_;
  std::vector<float> scores_;  // [pieces]
  std::vector<Type> types_;    // [pieces]
  std::array<std::int32_t, 256> byte_ids_{};
};

/// Unigram (unigram_model.cc, EncodeOptimized). Sums are kept in float as there, because they decide near ties.
class SentencePieceUnigram final : public SentencePieceModel {
 public:
  explicit SentencePieceUnigram(const SentencePieceFile& file) : SentencePieceModel(file) {
    float lowest = std::numeric_limits<float>::max();
    for (const SentencePiece& piece : file.pieces) {
      if (piece.type != Type::normal) continue;
      lowest = std::min(lowest, piece.score);
      highest_ = std::max(highest_, piece.score);
    }
    unknown_score_ = lowest - 10.0f;
  }

  void encode(std::string_view word, std::vector<Symbol>& symbols) const override {
    thread_local std::vector<Best> best;
    thread_local std::vector<Part> parts;
    find_best(word, best);
    parts.clear();
    for (auto end = static_cast<std::uint32_t>(word.size()); end > 0; end = best[end].begin)
      parts.push_back({best[end].begin, end, best[end].id});
    std::reverse(parts.begin(), parts.end());
    put(word, parts, symbols);
    if (best.capacity() > most_kept) best = {};
    if (parts.capacity() > most_kept) parts = {};
  }

 private:
  static constexpr std::size_t most_kept = std::size_t{1} << 20;
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  struct Best {
    float score;
    std::int32_t id;
    std::uint32_t begin;
  };

  void find_best(std::string_view word, std::vector<Best>& best) const {
    best.assign(word.size() + 1, Best{0, 0, nowhere});
    const auto offer = [&](std::size_t begin, std::size_t end, std::int32_t id, float score) {
      Best& node = best[end];
      if (node.begin == nowhere || score > node.score) node = {score, id, static_cast<std::uint32_t>(begin)};
    };
    for (std::size_t begin = 0; begin < word.size();) {
      const float here = best[begin].score;
      const std::size_t next = begin + utf8_length(word[begin]);
      bool alone = false;
      std::int32_t node = ByteTrie::root;
      for (std::size_t i = begin; i < word.size();) {
        node = trie_.child(node, word[i++]);
        if (node == ByteTrie::none) break;
        const std::int32_t id = trie_.value(node);
        if (id == ByteTrie::none || type(id) == Type::unused) continue;
        // What a user defined gets so much that it is always taken.
        const float own = type(id) == Type::user_defined ? static_cast<float>(i - begin) * highest_ - 0.1f : score(id);
        offer(begin, i, id, own + here);
        alone |= i == next;
      }
      if (!alone) offer(begin, next, unknown_, unknown_score_ + here);
      begin = next;
    }
  }

  float highest_ = std::numeric_limits<float>::min(), unknown_score_ = 0;
};

/// BPE (bpe_model.cc): neighbours are joined where what they give is a piece, the one of the highest score first, then
/// the leftmost. Pieces that are not to be used are taken apart again as they were joined.
class SentencePieceBpe final : public SentencePieceModel {
 public:
  explicit SentencePieceBpe(const SentencePieceFile& file) : SentencePieceModel(file), symbols_(user_symbols(file)) {}

  void encode(std::string_view word, std::vector<Symbol>& symbols) const override {
    Work work;
    split(word, work.links);
    for (std::int32_t i = 0; i + 1 < static_cast<std::int32_t>(work.links.size()); ++i) offer(word, i, work);
    while (!work.queue.empty()) {
      const Candidate top = work.queue.top();
      work.queue.pop();
      Link& left = work.links[static_cast<std::size_t>(top.left)];
      if (left.end == left.begin || left.next < 0) continue;
      Link& right = work.links[static_cast<std::size_t>(left.next)];
      if (left.next != top.right || right.end - left.begin != top.size) continue;
      left.end = right.end;
      left.id = top.id;
      left.next = right.next;
      right.begin = right.end;
      if (left.next >= 0) work.links[static_cast<std::size_t>(left.next)].previous = top.left;
      offer(word, left.previous, work);
      offer(word, top.left, work);
    }
    std::vector<Part> parts;
    for (std::int32_t i = work.links.empty() ? -1 : 0; i >= 0; i = work.links[static_cast<std::size_t>(i)].next)
      take_apart(word, work.links[static_cast<std::size_t>(i)].begin, work.links[static_cast<std::size_t>(i)].end, work,
                 parts);
    put(word, parts, symbols);
  }

 private:
  struct Link {
    std::uint32_t begin, end;  // equal: joined to the left
    std::int32_t previous, next, id;
    bool frozen;  // a user's symbol, never joined
  };
  struct Candidate {
    float score;
    std::int32_t left, right, id;
    std::uint32_t size;
    bool operator<(const Candidate& other) const {
      return score != other.score ? score < other.score : left > other.left;
    }
  };
  struct Work {
    std::vector<Link> links;
    std::priority_queue<Candidate> queue;
    std::map<std::string_view, std::uint32_t> unused;  // where each such piece was last joined
  };

  std::int32_t find(std::string_view text) const {
    const std::int32_t node = trie_.walk(text);
    return node == ByteTrie::none ? ByteTrie::none : trie_.value(node);
  }

  void split(std::string_view word, std::vector<Link>& links) const {
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t symbol = symbols_.longest(word.substr(at)).first;
      const std::size_t length = symbol > 0 ? symbol : utf8_length(word[at]);
      const auto index = static_cast<std::int32_t>(links.size());
      const auto begin = static_cast<std::uint32_t>(at), end = static_cast<std::uint32_t>(at + length);
      at += length;
      links.push_back({begin, end, index - 1, at < word.size() ? index + 1 : -1, 0, symbol > 0});
    }
  }

  void offer(std::string_view word, std::int32_t left, Work& work) const {
    if (left < 0) return;
    const Link& a = work.links[static_cast<std::size_t>(left)];
    if (a.next < 0) return;
    const Link& b = work.links[static_cast<std::size_t>(a.next)];
    if (a.frozen || b.frozen) return;
    const std::int32_t id = find(word.substr(a.begin, b.end - a.begin));
    if (id >= 0 && type(id) == Type::unused) work.unused[word.substr(a.begin, b.end - a.begin)] = a.end - a.begin;
    if (id >= 0) work.queue.push({score(id), left, a.next, id, b.end - a.begin});
  }

  void take_apart(std::string_view word, std::uint32_t begin, std::uint32_t end, const Work& work,
                  std::vector<Part>& parts) const {
    const std::string_view piece = word.substr(begin, end - begin);
    const std::int32_t id = find(piece);
    const auto joined = work.unused.find(piece);
    if (id < 0 || type(id) != Type::unused || joined == work.unused.end())
      return parts.push_back({begin, end, id < 0 ? unknown_ : id});
    take_apart(word, begin, begin + joined->second, work, parts);
    take_apart(word, begin + joined->second, end, work, parts);
  }

  ByteTrie symbols_;
};

}  // namespace

std::shared_ptr<TokenizerModel> sentencepiece_model(const SentencePieceFile& file, const std::string& source) {
  if (file.kind() == SentencePieceFile::Kind::bpe) return std::make_shared<SentencePieceBpe>(file);
  check(file.kind() == SentencePieceFile::Kind::unigram,
        "{}: a SentencePiece model of {} is not supported: expected unigram or BPE", source,
        file.kind() == SentencePieceFile::Kind::word ? "words" : "characters");
  return std::make_shared<SentencePieceUnigram>(file);
}

}  // namespace attune
