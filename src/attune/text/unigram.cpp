#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "attune/base/json.h"
#include "attune/text/byte_trie.h"
#include "attune/text/model.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// How much worse than the worst token a character is that no token covers.
constexpr double unknown_penalty = 10;

/// The power of ten, rounded to the nearest double.
double power_of_ten(int exponent) {
  static const std::vector<double> powers = [] {
    std::vector<double> all;
    for (int i = 0; i <= 308; ++i) all.push_back(std::stod("1e" + std::to_string(i)));
    return all;
  }();
  return powers[static_cast<std::size_t>(exponent)];
}

/// The score as Hugging Face's tokenizers see it. Their JSON reader (serde_json without "float_roundtrip") rounds
/// twice, once all digits as a whole number and once when it divides by a power of ten: a fourth of the scores of a
/// file are other in their last bit, and that decides which of two equally good ways is taken.
double rounded_twice(double score) {
  if (score == 0) return score;
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, std::abs(score), std::chars_format::scientific).ptr;
  const std::string_view number(text, static_cast<std::size_t>(end - text));
  const std::size_t mark = number.find('e');
  std::uint64_t digits = 0;
  int exponent = std::stoi(std::string(number.substr(mark + 1)));
  for (std::size_t i = 0; i < mark; ++i) {
    if (number[i] == '.') continue;
    digits = digits * 10 + static_cast<std::uint64_t>(number[i] - '0');
    if (i > 0) --exponent;
  }
  auto value = static_cast<double>(digits);
  if (exponent < -308) {
    value /= power_of_ten(308);
    exponent += 308;
  }
  value = exponent >= 0 ? value * power_of_ten(exponent) : value / power_of_ten(-exponent);
  return std::copysign(value, score);
}

/// With a point or an exponent, so that it reads as the same number again (-0, too).
std::string number_text(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// A unigram language model (Kudo 2018, section 3.2): of all ways to cut a word into tokens the one whose sum of
/// scores (log probabilities) is highest. Sums are kept in double, in the order of the text; of equal ones the first
/// found stays, which is the one whose last token begins first. So do Hugging Face's tokenizers.
class Unigram final : public TokenizerModel {
 public:
  Unigram(const std::vector<std::string>& tokens, std::vector<double> scores, std::int32_t unknown, bool byte_fallback)
      : TokenizerModel(Vocabulary::of_list(tokens)),
        written_(std::move(scores)),
        unknown_(unknown),
        byte_fallback_(byte_fallback) {
    std::vector<std::pair<std::string_view, std::int32_t>> entries;
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      entries.push_back({tokens[id], static_cast<std::int32_t>(id)});
      scores_.push_back(rounded_twice(written_[id]));
      lowest = std::min(lowest, scores_[id]);
    }
    trie_ = ByteTrie(std::move(entries));
    unknown_score_ = lowest - unknown_penalty;
    for (int byte = 0; byte < 256; ++byte)
      byte_ids_[static_cast<std::size_t>(byte)] = vocabulary_.find(fmt::format("<0x{:02X}>", byte));
  }

  std::int32_t unknown_token() const override { return unknown_; }

  void encode(std::string_view word, std::vector<Symbol>& symbols) const override {
    thread_local std::vector<Best> best;
    thread_local std::vector<Symbol> backwards;
    find_best(word, best);
    backwards.clear();
    std::uint32_t unknown_bytes = 0;  // a run of unknown tokens is one piece
    for (std::size_t end = word.size(); end > 0;) {
      const Best& node = best[end];
      const auto length = static_cast<std::uint32_t>(end) - node.begin;
      if (node.id == unknown_) {
        unknown_bytes += length;
      } else {
        put_unknown(word.substr(end, unknown_bytes), backwards);
        unknown_bytes = 0;
        backwards.push_back({node.id, length});
      }
      end = node.begin;
    }
    put_unknown(word.substr(0, unknown_bytes), backwards);
    symbols.insert(symbols.end(), backwards.rbegin(), backwards.rend());
    if (best.capacity() > most_kept) best = {};
  }

  std::int32_t surface_token() const override { return unknown_; }

  void write(std::string& json) const override {
    json += "{\"type\":\"Unigram\",\"unk_id\":" + (unknown_ < 0 ? "null" : std::to_string(unknown_)) + ",\"vocab\":[";
    for (std::int32_t id = 0; id < vocabulary_.limit(); ++id)
      json += fmt::format("{}[{},{}]", id > 0 ? "," : "", json_quoted(vocabulary_.token(id)),
                          number_text(written_[static_cast<std::size_t>(id)]));
    json += fmt::format("],\"byte_fallback\":{}}}", byte_fallback_);
  }

 private:
  static constexpr std::size_t most_kept = std::size_t{1} << 20;

  /// The best way to the end of a beginning of the word: its sum, and its last token.
  struct Best {
    double score;
    std::int32_t id;
    std::uint32_t begin;
  };
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  void find_best(std::string_view word, std::vector<Best>& best) const {
    best.assign(word.size() + 1, Best{0, 0, nowhere});
    const auto offer = [&](std::size_t begin, std::size_t end, std::int32_t id, double score) {
      Best& node = best[end];
      if (node.begin != nowhere && !(score > node.score)) return;
      check(id >= 0, "the text holds \"{}\", which the tokenizer's vocabulary lacks, and its unk_id is null",
            word.substr(begin, end - begin));
      node = {score, id, static_cast<std::uint32_t>(begin)};
    };
    for (std::size_t begin = 0; begin < word.size();) {
      const double here = best[begin].score;
      const std::size_t next = begin + utf8_length(word[begin]);
      bool alone = false;  // a token covers just this character
      std::int32_t node = ByteTrie::root;
      for (std::size_t i = begin; i < word.size();) {
        node = trie_.child(node, word[i++]);
        if (node == ByteTrie::none) break;
        const std::int32_t id = trie_.value(node);
        if (id == ByteTrie::none) continue;
        offer(begin, i, id, scores_[static_cast<std::size_t>(id)] + here);
        alone |= i == next;
      }
      if (!alone) offer(begin, next, unknown_, unknown_score_ + here);
      begin = next;
    }
  }

  /// A piece that no token covers, the last of its bytes first.
  void put_unknown(std::string_view piece, std::vector<Symbol>& backwards) const {
    if (piece.empty()) return;
    const auto length = static_cast<std::uint32_t>(piece.size());
    // A run of unknown characters may still be a token, where scores are so high that the run was better.
    if (const std::int32_t id = vocabulary_.find(piece); id >= 0) return backwards.push_back({id, length});
    const auto id_of = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
    if (byte_fallback_ && std::all_of(piece.begin(), piece.end(), [&](char byte) { return id_of(byte) >= 0; })) {
      for (std::size_t i = piece.size(); i-- > 0;) backwards.push_back({id_of(piece[i]), length, i + 1 < piece.size()});
    } else {
      backwards.push_back({unknown_, length});
    }
  }

  std::vector<double> written_;  // [vocabulary], as the file has them
  std::vector<double> scores_;   // [vocabulary], as they are added
  std::int32_t unknown_;         // -1: none
  bool byte_fallback_;
  double unknown_score_ = 0;  // of a character that no token covers
  ByteTrie trie_;
  std::array<std::int32_t, 256> byte_ids_{};
};

}  // namespace

std::shared_ptr<TokenizerModel> read_unigram(const JsonView& json) {
  json.only({"type", "unk_id", "vocab", "byte_fallback"});
  std::vector<std::string> tokens;
  std::vector<double> scores;
  json.at("vocab").each_score([&](std::string_view token, double score) {
    tokens.emplace_back(token);
    scores.push_back(score);
  });
  std::int32_t unknown = -1;
  if (json.has("unk_id")) {
    if (tokens.empty()) json.at("vocab").reject("is empty, but unk_id names a token");
    unknown = static_cast<std::int32_t>(json.at("unk_id").integer(0, static_cast<std::int64_t>(tokens.size()) - 1));
  }
  return std::make_shared<Unigram>(tokens, std::move(scores), unknown, json.flag_or("byte_fallback", false));
}

}  // namespace attune
