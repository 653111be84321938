#include "attune/base/json.h"
#include "attune/text/flat_map.h"
#include "attune/text/model.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// WordPiece (Schuster & Nakajima 2012; the greedy form of Devlin et al. 2019): the longest token that begins the word,
/// then the longest continuing one ("##...") of the rest; a word that can't be covered so is one unknown token.
class WordPiece final : public TokenizerModel {
 public:
  WordPiece(Vocabulary vocabulary, std::string unknown, std::string prefix, std::int64_t longest)
      : TokenizerModel(std::move(vocabulary)),
        unknown_(std::move(unknown)),
        prefix_(std::move(prefix)),
        longest_(longest) {
    node_ids_.push_back(Vocabulary::none);
    for (std::int32_t id = 0; id < vocabulary_.limit(); ++id)
      if (vocabulary_.has(id)) node_ids_[static_cast<std::size_t>(add(vocabulary_.token(id)))] = id;
    continuing_ = walk(prefix_);
    unknown_id_ = vocabulary_.find(unknown_);
  }

  std::int32_t unknown_token() const override { return unknown_id_; }
  bool marks_continuations() const override { return !prefix_.empty(); }

  void encode(std::string_view word, std::vector<Symbol>& symbols) const override {
    const std::size_t first = symbols.size();
    bool whole = static_cast<std::int64_t>(code_points(word)) <= longest_;
    for (std::size_t begin = 0; whole && begin < word.size();) {
      std::int32_t node = begin == 0 ? 0 : continuing_;
      Symbol best{Vocabulary::none, 0};
      for (std::size_t i = begin; i < word.size() && node >= 0; ++i) {
        node = child(node, word[i]);
        if (node >= 0 && node_ids_[static_cast<std::size_t>(node)] >= 0)
          best = {node_ids_[static_cast<std::size_t>(node)], static_cast<std::uint32_t>(i + 1 - begin)};
      }
      whole = best.id >= 0;
      symbols.push_back(best);
      begin += best.length;
    }
    if (whole) return;
    check(unknown_id_ >= 0, "the tokenizer's unknown token \"{}\" is not in its vocabulary", unknown_);
    symbols.resize(first);
    symbols.push_back({unknown_id_, static_cast<std::uint32_t>(word.size())});
  }

  void write(std::string& json) const override {
    json += fmt::format(
        R"({{"type":"WordPiece","unk_token":{},"continuing_subword_prefix":{},"max_input_chars_per_word":{},"vocab":)",
        json_quoted(unknown_), json_quoted(prefix_), longest_);
    vocabulary_.write(json);
    json += '}';
  }

 private:
  // A trie over bytes; node 0 is the root.
  static std::uint64_t edge(std::int32_t node, char byte) { return pair_key(node, static_cast<unsigned char>(byte)); }

  std::int32_t child(std::int32_t node, char byte) const {
    const std::int32_t* found = edges_.find(edge(node, byte));
    return found ? *found : -1;
  }

  std::int32_t walk(std::string_view text) const {
    std::int32_t node = 0;
    for (std::size_t i = 0; i < text.size() && node >= 0; ++i) node = child(node, text[i]);
    return node;
  }

  std::int32_t add(std::string_view text) {
    std::int32_t node = 0;
    for (char byte : text) {
      std::int32_t next = child(node, byte);
      if (next < 0) {
        next = static_cast<std::int32_t>(node_ids_.size());
        node_ids_.push_back(Vocabulary::none);
        edges_[edge(node, byte)] = next;
      }
      node = next;
    }
    return node;
  }

  std::string unknown_, prefix_;
  std::int64_t longest_;  // characters; a longer word is unknown
  FlatMap<std::int32_t> edges_;
  std::vector<std::int32_t> node_ids_;  // [nodes], the token that ends there, or none
  std::int32_t continuing_ = -1, unknown_id_ = -1;
};

/// Whole words only.
class WordLevel final : public TokenizerModel {
 public:
  WordLevel(Vocabulary vocabulary, std::string unknown)
      : TokenizerModel(std::move(vocabulary)), unknown_(std::move(unknown)) {
    unknown_id_ = vocabulary_.find(unknown_);
  }

  std::int32_t unknown_token() const override { return unknown_id_; }

  void encode(std::string_view word, std::vector<Symbol>& symbols) const override {
    std::int32_t id = vocabulary_.find(word);
    if (id < 0) id = unknown_id_;
    check(id >= 0, "the word \"{}\" is not in the tokenizer's vocabulary, and neither is its unknown token \"{}\"",
          word, unknown_);
    symbols.push_back({id, static_cast<std::uint32_t>(word.size())});
  }

  void write(std::string& json) const override {
    json += "{\"type\":\"WordLevel\",\"vocab\":";
    vocabulary_.write(json);
    json += ",\"unk_token\":" + json_quoted(unknown_) + "}";
  }

 private:
  std::string unknown_;
  std::int32_t unknown_id_ = -1;
};

}  // namespace

std::shared_ptr<TokenizerModel> read_word_piece(const JsonView& json) {
  json.only({"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
  return std::make_shared<WordPiece>(Vocabulary::read(json.at("vocab")), json.string("unk_token"),
                                     json.string("continuing_subword_prefix"),
                                     json.at("max_input_chars_per_word").integer(0, 1'000'000'000));
}

std::shared_ptr<TokenizerModel> read_word_level(const JsonView& json) {
  json.only({"type", "unk_token", "vocab"});
  return std::make_shared<WordLevel>(Vocabulary::read(json.at("vocab")), json.string("unk_token"));
}

}  // namespace attune
