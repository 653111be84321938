#include <algorithm>
#include <array>
#include <queue>

#include "attune/base/json.h"
#include "attune/base/stop.h"
#include "attune/text/byte_alphabet.h"
#include "attune/text/flat_map.h"
#include "attune/text/model.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// What joining a pair of tokens gives, and its place in the list of merges: the lower is joined first.
struct Merge {
  std::uint32_t rank;
  std::int32_t id;
};

/// A merge of a file whose tokens are being looked up.
struct PendingMerge {
  struct Part {
    std::string_view token;
    std::uint64_t hash;
    std::int32_t id = -1;
  } first, second;
};

struct BpeConfig {
  std::optional<std::string> unknown, continuing_prefix, end_suffix;
  bool fuse_unknown = false, byte_fallback = false, ignore_merges = false;
};

/// Byte-pair encoding (Sennrich et al. 2016, algorithm 1): a word begins as its characters (or bytes), then the
/// neighbours whose pair was learned first are joined, again and again, the leftmost first.
class Bpe final : public TokenizerModel {
 public:
  Bpe(Vocabulary vocabulary, BpeConfig config, const JsonView& merges)
      : TokenizerModel(std::move(vocabulary)), config_(config) {
    read_merges(merges);
    if (config_.unknown) unknown_ = vocabulary_.find(*config_.unknown);
    for (int byte = 0; byte < 256; ++byte) {
      std::string letter;
      append_utf8(letter, byte_to_character(static_cast<unsigned char>(byte)));
      byte_ids_[static_cast<std::size_t>(byte)] = vocabulary_.find(letter);
      fallback_ids_[static_cast<std::size_t>(byte)] = vocabulary_.find(fmt::format("<0x{:02X}>", byte));
    }
  }

  bool take_raw_bytes() override {
    const bool all = std::all_of(byte_ids_.begin(), byte_ids_.end(), [](std::int32_t id) { return id >= 0; });
    return raw_ = all && !config_.continuing_prefix && !config_.end_suffix;
  }

  std::int32_t unknown_token() const override { return unknown_; }
  bool marks_continuations() const override { return config_.continuing_prefix && !config_.continuing_prefix->empty(); }

  void encode(std::string_view word, std::vector<Symbol>& symbols) const override {
    if (config_.ignore_merges) {
      std::string mapped;
      if (raw_) append_byte_characters(mapped, word);
      if (const std::int32_t id = vocabulary_.find(raw_ ? mapped : word); id >= 0)
        return symbols.push_back({id, static_cast<std::uint32_t>(word.size())});
    }
    const std::size_t first = symbols.size();
    if (raw_) {
      for (char byte : word) symbols.push_back({byte_ids_[static_cast<unsigned char>(byte)], 1});
    } else {
      split(word, symbols);
    }
    if (symbols.size() - first < 2) return;
    if (symbols.size() - first <= 48) {
      join_few(symbols, first);
    } else {
      join_many(symbols, first);
    }
  }

  void write(std::string& json) const override {
    const auto optional = [](const std::optional<std::string>& text) { return text ? json_quoted(*text) : "null"; };
    json += fmt::format(
        R"({{"type":"BPE","dropout":null,"unk_token":{},"continuing_subword_prefix":{},"end_of_word_suffix":{},)"
        R"("fuse_unk":{},"byte_fallback":{},"ignore_merges":{},"vocab":)",
        optional(config_.unknown), optional(config_.continuing_prefix), optional(config_.end_suffix),
        config_.fuse_unknown, config_.byte_fallback, config_.ignore_merges);
    vocabulary_.write(json);
    json += ",\"merges\":[";
    std::vector<std::pair<std::uint32_t, std::uint64_t>> ordered;
    merges_.each([&](std::uint64_t pair, const Merge& merge) { ordered.push_back({merge.rank, pair}); });
    std::sort(ordered.begin(), ordered.end());
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      const std::uint64_t pair = ordered[i].second;
      json += i > 0 ? ",[" : "[";
      json += json_quoted(vocabulary_.token(static_cast<std::int32_t>(pair >> 32)));
      json += ',';
      json += json_quoted(vocabulary_.token(static_cast<std::int32_t>(pair & 0xFFFFFFFFu)));
      json += ']';
    }
    json += "]}";
  }

 private:
  /// Some merges at a time: their look-ups miss the caches, and so do not wait for each other.
  void read_merges(const JsonView& merges) {
    merges_.reserve(static_cast<std::size_t>(merges.size()));
    std::vector<PendingMerge> pending;
    std::uint32_t rank = 0;
    std::int32_t last = 0;  // what the merge before gave: most vocabularies go on as their merges do
    const auto take = [&] {
      for (PendingMerge& one : pending) {
        one.first.id = vocabulary_.find(one.first.token, one.first.hash);
        one.second.id = vocabulary_.find(one.second.token, one.second.hash);
        merges_.prefetch(pair_key(one.first.id, one.second.id));
      }
      for (const PendingMerge& one : pending) take_merge(merges, one, rank++, last);
      pending.clear();
    };
    merges.each_pair([&](std::string_view a, std::string_view b) {
      pending.push_back({{a, hash_bytes(a)}, {b, hash_bytes(b)}});
      vocabulary_.prefetch(pending.back().first.hash), vocabulary_.prefetch(pending.back().second.hash);
      if (pending.size() == 64) take();
    });
    take();
  }

  void take_merge(const JsonView& merges, const PendingMerge& merge, std::uint32_t rank, std::int32_t& last) {
    const PendingMerge::Part &first = merge.first, &second = merge.second;
    const auto check_known = [&](std::string_view token, std::int32_t id) {
      if (id < 0)
        merges.reject("[{}] joins \"{}\" and \"{}\", but \"{}\" is not in the vocabulary", rank, first.token,
                      second.token, token);
    };
    check_known(first.token, first.id);
    check_known(second.token, second.id);
    const std::string_view prefix = config_.continuing_prefix ? *config_.continuing_prefix : std::string_view();
    if (second.token.size() < prefix.size())
      merges.reject("[{}]: \"{}\" lacks the prefix \"{}\"", rank, second.token, prefix);
    const std::string joined = std::string(first.token).append(second.token.substr(prefix.size()));
    ++last;
    if (!vocabulary_.has(last) || vocabulary_.token(last) != joined) last = vocabulary_.find(joined);
    check_known(joined, last);
    merges_[pair_key(first.id, second.id)] = {rank, last};  // given twice, the later rank counts
  }

  /// The word's characters as tokens; what the vocabulary lacks falls back to bytes, or to the unknown token, or is
  /// dropped.
  void split(std::string_view word, std::vector<Symbol>& symbols) const {
    Symbol unknown{-1, 0};
    const auto flush = [&] {
      if (unknown.length > 0) symbols.push_back(unknown);
      unknown.length = 0;
    };
    std::string letter;
    for (std::size_t i = 0; i < word.size();) {
      const std::size_t begin = i;
      i += utf8_length(word[i]);
      const std::uint32_t length = static_cast<std::uint32_t>(i - begin);
      letter.assign(begin > 0 && config_.continuing_prefix ? *config_.continuing_prefix : "");
      letter.append(word.substr(begin, length));
      if (i == word.size() && config_.end_suffix) letter.append(*config_.end_suffix);
      if (const std::int32_t id = vocabulary_.find(letter); id >= 0) {
        flush();
        symbols.push_back({id, length});
      } else if (config_.byte_fallback && has_bytes(letter)) {
        // As in Hugging Face's tokenizers, an unknown token that waits stays behind these.
        for (char byte : letter) symbols.push_back({fallback_ids_[static_cast<unsigned char>(byte)], 1});
      } else if (config_.unknown) {
        check(unknown_ >= 0, "the tokenizer's unknown token \"{}\" is not in its vocabulary", *config_.unknown);
        if (!config_.fuse_unknown) flush();
        unknown = {unknown_, unknown.length + length};
      }
    }
    flush();
  }

  bool has_bytes(std::string_view letter) const {
    return std::all_of(letter.begin(), letter.end(),
                       [&](char byte) { return fallback_ids_[static_cast<unsigned char>(byte)] >= 0; });
  }

  /// Looks through all pairs for the next one to join: for short words nothing is faster.
  void join_few(std::vector<Symbol>& symbols, std::size_t first) const {
    constexpr std::uint32_t never = ~std::uint32_t{0};
    Merge pairs[48];
    std::size_t count = symbols.size() - first;
    Symbol* word = symbols.data() + first;
    const auto pair_at = [&](std::size_t i) {
      const Merge* merge = merges_.find(pair_key(word[i].id, word[i + 1].id));
      return merge ? *merge : Merge{never, 0};
    };
    for (std::size_t i = 0; i + 1 < count; ++i) pairs[i] = pair_at(i);
    while (count > 1) {
      std::size_t best = 0;
      for (std::size_t i = 1; i + 1 < count; ++i)
        if (pairs[i].rank < pairs[best].rank) best = i;
      if (pairs[best].rank == never) break;
      word[best] = {pairs[best].id, word[best].length + word[best + 1].length};
      std::copy(word + best + 2, word + count, word + best + 1);
      std::copy(pairs + best + 1, pairs + count - 1, pairs + best);
      --count;
      if (best > 0) pairs[best - 1] = pair_at(best - 1);
      if (best + 1 < count) pairs[best] = pair_at(best);
    }
    symbols.resize(first + count);
  }

  /// The same with a queue of pairs, for words of any length in O(n log n).
  void join_many(std::vector<Symbol>& symbols, std::size_t first) const {
    struct Link {
      std::int32_t id, previous, next;
      std::uint32_t length;  // 0: joined to the left
    };
    struct Candidate {
      std::uint32_t rank;
      std::int32_t at, id;
      bool operator<(const Candidate& other) const {
        return rank != other.rank ? rank > other.rank : at > other.at;  // the queue gives the largest
      }
    };
    const auto count = static_cast<std::int32_t>(symbols.size() - first);
    std::vector<Link> word;
    for (std::int32_t i = 0; i < count; ++i) {
      const Symbol& symbol = symbols[first + static_cast<std::size_t>(i)];
      word.push_back({symbol.id, i - 1, i + 1 < count ? i + 1 : -1, symbol.length});
    }
    const auto link = [&](std::int32_t i) -> Link& { return word[static_cast<std::size_t>(i)]; };
    std::priority_queue<Candidate> queue;
    const auto offer = [&](std::int32_t left) {
      if (left < 0 || link(left).next < 0) return;
      if (const Merge* merge = merges_.find(pair_key(link(left).id, link(link(left).next).id)))
        queue.push({merge->rank, left, merge->id});
    };
    for (std::int32_t i = 0; i + 1 < count; ++i) offer(i);
    constexpr std::uint32_t between_looks = 1 << 16;
    for (std::uint32_t steps = 1; !queue.empty(); ++steps) {
      if (steps % between_looks == 0) throw_if_stopped();
      const Candidate top = queue.top();
      queue.pop();
      Link& left = link(top.at);
      if (left.length == 0 || left.next < 0) continue;
      Link& right = link(left.next);
      const Merge* merge = merges_.find(pair_key(left.id, right.id));
      if (!merge || merge->id != top.id) continue;  // one of the two was joined otherwise in the meantime
      left.id = top.id;
      left.length += right.length;
      left.next = right.next;
      right.length = 0;
      if (left.next >= 0) link(left.next).previous = top.at;
      offer(left.previous);
      offer(top.at);
    }
    symbols.resize(first);
    for (std::int32_t i = 0; i >= 0; i = link(i).next) symbols.push_back({link(i).id, link(i).length});
  }

  BpeConfig config_;
  FlatMap<Merge> merges_;  // of the two ids
  std::int32_t unknown_ = -1;
  std::array<std::int32_t, 256> byte_ids_{}, fallback_ids_{};
  bool raw_ = false;
};

}  // namespace

std::shared_ptr<TokenizerModel> read_bpe(const JsonView& json) {
  json.only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
             "byte_fallback", "ignore_merges", "vocab", "merges"});
  if (json.has("dropout") && json.at("dropout").text() != "0.0" && json.at("dropout").text() != "0")
    json.at("dropout").reject("BPE dropout is not supported: set it to null");
  BpeConfig config;
  config.unknown = json.optional_string("unk_token");
  config.continuing_prefix = json.optional_string("continuing_subword_prefix");
  config.end_suffix = json.optional_string("end_of_word_suffix");
  config.fuse_unknown = json.flag_or("fuse_unk", false);
  config.byte_fallback = json.flag_or("byte_fallback", false);
  config.ignore_merges = json.flag_or("ignore_merges", false);
  return std::make_shared<Bpe>(Vocabulary::read(json.at("vocab")), config, json.at("merges"));
}

}  // namespace attune
