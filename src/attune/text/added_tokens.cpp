#include "attune/text/added_tokens.h"

#include <algorithm>

#include "attune/text/unicode.h"

namespace attune {

namespace {

std::uint64_t edge(std::int32_t node, char byte) { return pair_key(node, static_cast<unsigned char>(byte)); }

bool word_ends_before(std::string_view text, std::size_t at) {
  return at > 0 && is_word_character(previous_code_point(text, at));
}

bool word_begins_at(std::string_view text, std::size_t at) {
  return at < text.size() && is_word_character(next_code_point(text, at));
}

}  // namespace

void TokenMatcher::add(std::string_view text, const AddedToken& token) {
  if (text.empty()) return;
  std::int32_t node = 0;
  for (char byte : text) {
    std::int32_t& next = edges_[edge(node, byte)];
    if (next == 0) {
      next = static_cast<std::int32_t>(node_tokens_.size());
      node_tokens_.push_back(-1);
    }
    node = next;
  }
  node_tokens_[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(tokens_.size());
  tokens_.push_back(token);
  begins_[static_cast<unsigned char>(text[0])] = true;
}

std::int32_t TokenMatcher::longest_at(std::string_view text, std::size_t at, std::size_t& end) const {
  std::int32_t node = 0, best = -1;
  for (std::size_t i = at; i < text.size(); ++i) {
    const std::int32_t* next = edges_.find(edge(node, text[i]));
    if (!next) break;
    node = *next;
    if (const std::int32_t token = node_tokens_[static_cast<std::size_t>(node)]; token >= 0) best = token, end = i + 1;
  }
  return best;
}

void TokenMatcher::split(Pieces& pieces, const Piece& piece) const {
  const std::string_view text = pieces.bytes(piece);
  const auto add = [&](std::size_t begin, std::size_t end, std::int32_t id) {
    pieces.add({piece.text, piece.begin + static_cast<std::uint32_t>(begin),
                piece.begin + static_cast<std::uint32_t>(end), id});
  };
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size() && !tokens_.empty();) {
    std::size_t match_end = 0;
    const std::int32_t found = begins_[static_cast<unsigned char>(text[at])] ? longest_at(text, at, match_end) : -1;
    if (found < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(found)];
    std::size_t begin = at, end = match_end;
    at = match_end;
    if (token.single_word && (word_ends_before(text, begin) || word_begins_at(text, end))) continue;
    if (token.lstrip) {
      for (std::size_t left = begin; left > 0 && is_white_space(previous_code_point(text, left));) begin = left;
      begin = std::max(begin, done);
    }
    if (token.rstrip)
      for (std::size_t right = end; right < text.size() && is_white_space(next_code_point(text, right));) end = right;
    if (done < begin) add(done, begin, -1);
    add(begin, end, token.id);
    done = end;
  }
  if (done != text.size()) add(done, text.size(), -1);
}

void AddedTokens::read(const JsonView& json, const TokenizerModel& model, const Normalizer* normalizer) {
  const Vocabulary& vocabulary = model.vocabulary();
  std::int32_t next = vocabulary.size();
  json.each_element([&](const JsonView& entry) {
    entry.only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token;
    token.content = entry.string("content");
    if (token.content.empty()) entry.at("content").reject("is empty");
    token.id = static_cast<std::int32_t>(entry.at("id").integer(0, 0x7FFFFFFE));
    token.single_word = entry.flag("single_word");
    token.lstrip = entry.flag("lstrip");
    token.rstrip = entry.flag("rstrip");
    token.normalized = entry.flag("normalized");
    token.special = entry.flag("special");
    if (contents_.find(token.content) >= 0) entry.at("content").reject("\"{}\" was added before", token.content);
    const std::int32_t known = vocabulary.find(token.content);
    const std::int32_t expected = known >= 0 ? known : next++;
    if (token.id != expected)
      entry.at("id").reject("\"{}\" has the id {}, but {} {}", token.content, token.id,
                            known >= 0 ? "the model's vocabulary gives it" : "the next free id is", expected);
    contents_.add(token.content);
    content_ids_.push_back(token.id);
    list_.push_back(std::move(token));
  });
  std::sort(list_.begin(), list_.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  for (const AddedToken& token : list_) {
    std::string form = token.content;
    if (token.normalized && normalizer) {
      AlignedText text(token.content, 0);
      normalizer->apply(text);
      form = text.bytes();
    }
    if (token.normalized) {
      normalized_.add(form, token);
    } else {
      raw_.add(token.content, token);
    }
    normal_forms_.push_back(std::move(form));
  }
}

void AddedTokens::declare(const AddedToken& token) {
  contents_.add(token.content);
  content_ids_.push_back(token.id);
  const auto at = std::lower_bound(list_.begin(), list_.end(), token.id,
                                   [](const AddedToken& one, std::int32_t wanted) { return one.id < wanted; });
  normal_forms_.insert(normal_forms_.begin() + (at - list_.begin()), token.content);
  list_.insert(at, token);
}

void AddedTokens::split(std::string_view text, const Normalizer* normalizer, Pieces& pieces) const {
  if (text.empty()) return;
  const auto size = static_cast<std::uint32_t>(text.size());
  pieces.add({pieces.add_text(AlignedText(text, 0)), 0, size});
  if (!raw_.empty()) pieces.split([&](const Piece& piece) { raw_.split(pieces, piece); });
  if (!normalizer && normalized_.empty()) return;
  pieces.split([&](const Piece& piece) {
    Piece whole = piece;
    if (normalizer) {
      AlignedText own(text.substr(piece.begin, piece.end - piece.begin), piece.begin);
      normalizer->apply(own);
      whole.end = static_cast<std::uint32_t>(own.bytes().size());
      whole.begin = 0;
      whole.text = pieces.add_text(std::move(own));
    }
    normalized_.split(pieces, whole);
  });
}

const AddedToken* AddedTokens::find(std::int32_t id) const {
  const auto at = std::lower_bound(list_.begin(), list_.end(), id,
                                   [](const AddedToken& token, std::int32_t wanted) { return token.id < wanted; });
  return at != list_.end() && at->id == id ? &*at : nullptr;
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const std::int32_t number = contents_.find(content);
  return number < 0 ? nullptr : find(content_ids_[static_cast<std::size_t>(number)]);
}

std::string_view AddedTokens::decoded(const AddedToken& token) const {
  return normal_forms_[static_cast<std::size_t>(&token - list_.data())];
}

bool AddedTokens::is_special_text(std::string_view text) const {
  const AddedToken* token = find(text);
  return token && token->special;
}

}  // namespace attune
