#include "attune/text/tokenizer.h"

#include <algorithm>

#include "attune/base/threads.h"
#include "attune/text/tokenizer_parts.h"
#include "attune/text/unicode.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

constexpr std::size_t longest_text = std::size_t{1} << 30;

/// Code points of byte positions in order; `points` has one entry a byte and one for the end, and none for ASCII.
void number_points(std::string_view text, std::vector<std::uint32_t>& points) {
  points.clear();
  if (is_ascii(text)) return;
  points.resize(text.size() + 1);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    count += !is_utf8_continuation(text[i]);
    points[i] = count - 1;
  }
  points[text.size()] = count;
}

/// The empty range before the byte `at` < size.
Span empty_before(const AlignedText& text, std::uint32_t at) {
  const std::uint32_t begin = text.origin(at, at + 1).begin;
  return {begin, begin};
}

}  // namespace

Margins margins_of(std::string_view token) {
  const auto blank = [](char32_t point) {
    return point == 0x120 || is_white_space(point);
  };  // U+0120 stands for a space
  Margins margins;
  for (std::size_t i = 0; i < token.size() && blank(next_code_point(token, i));) ++margins.leading;
  for (std::size_t i = token.size(); i > 0 && blank(previous_code_point(token, i));) ++margins.trailing;
  return margins;
}

std::string_view Tokenizer::Parts::token(std::int32_t id) const {
  if (const AddedToken* token = added.find(id)) return token->content;
  return model->vocabulary().has(id) ? model->vocabulary().token(id) : std::string_view();
}

std::optional<std::string_view> Tokenizer::Parts::decoded_token(std::int32_t id, bool skip_special) const {
  std::string_view text;
  if (const AddedToken* token = added.find(id)) {
    text = added.decoded(*token);
  } else if (model->vocabulary().has(id)) {
    text = model->vocabulary().token(id);
  } else {
    return std::nullopt;
  }
  // As in the reference it is the text that makes a token special, whatever its id.
  if (skip_special && added.is_special_text(text)) return std::nullopt;
  return text;
}

std::unique_ptr<Workspace> Tokenizer::Parts::borrow() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>();
}

void Tokenizer::Parts::give_back(std::unique_ptr<Workspace> workspace) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

void Tokenizer::Parts::split_for_training(std::string_view text, Pieces& pieces) const {
  pieces.clear();
  AlignedText own(text, 0);
  if (normalizer) normalizer->apply(own);
  const auto end = static_cast<std::uint32_t>(own.bytes().size());
  pieces.add({pieces.add_text(std::move(own)), 0, end});
  if (pre_tokenizer) pre_tokenizer->apply(pieces);
}

void Tokenizer::Parts::encode_sequence(std::string_view text, std::int8_t sequence, Workspace& workspace,
                                       TokenList& tokens, std::vector<std::string>& added_texts) const {
  check(text.size() <= longest_text, "encoding a text of {} bytes: at most {} are supported; split it", text.size(),
        longest_text);
  check_utf8(text, "encoding a text");
  Pieces& pieces = workspace.pieces;
  pieces.clear();
  added.split(text, normalizer.get(), pieces);
  if (pre_tokenizer) pre_tokenizer->apply(pieces);
  number_points(text, workspace.points);
  const std::vector<std::uint32_t>& points = workspace.points;
  const auto point_of = [&](std::uint32_t byte) {
    return static_cast<std::int32_t>(points.empty() ? byte : points[byte]);
  };
  const auto encode_word = [this](std::string_view word, std::vector<Symbol>& symbols) {
    model->encode(word, symbols);
  };
  const std::int32_t surface_token = model->surface_token();
  tokens.reserve(tokens.size() + text.size() / 4);
  for (const Piece& piece : pieces.list()) {
    const AlignedText& source = pieces.text(piece);
    Token token{};
    token.type = sequence;
    token.sequence = sequence;
    token.added = -1;
    if (piece.added >= 0) {
      const Span span = source.origin(piece.begin, piece.end);
      token.id = piece.added;
      token.added = static_cast<std::int32_t>(added_texts.size());
      token.begin = point_of(span.begin), token.end = point_of(span.end);
      added_texts.emplace_back(pieces.bytes(piece));
      tokens.push_back(token);
      continue;
    }
    std::uint32_t at = piece.begin;
    for (const Symbol& symbol : workspace.cache.get(pieces.bytes(piece), encode_word)) {
      // Fallback bytes of a token with an affix may outnumber the word's; the reference then gives positions in the
      // word.
      const bool inside = at + symbol.length <= piece.end;
      const Span span = symbol.length == 0 ? empty_before(source, at)
                        : inside
                            ? source.origin(at, at + symbol.length)
                            : Span{std::min<std::uint32_t>(at - piece.begin, static_cast<std::uint32_t>(text.size())),
                                   std::min<std::uint32_t>(at + symbol.length - piece.begin,
                                                           static_cast<std::uint32_t>(text.size()))};
      token.id = symbol.id;
      token.added = -1;
      if (symbol.id == surface_token) {
        token.added = static_cast<std::int32_t>(added_texts.size());
        added_texts.emplace_back(pieces.bytes(piece).substr(at - piece.begin, symbol.length));
      }
      token.begin = point_of(span.begin), token.end = point_of(span.end);
      tokens.push_back(token);
      if (!symbol.stays) at += symbol.length;
    }
  }
}

Encoding Tokenizer::Parts::encode(const TextPair& input, EncodeOptions options, Workspace& workspace) const {
  std::vector<TokenList> sequences(input.pair ? 2 : 1);
  std::vector<std::string> added_texts;
  encode_sequence(input.text, 0, workspace, sequences[0], added_texts);
  if (input.pair)
    within("in the second text of a pair",
           [&] { encode_sequence(*input.pair, 1, workspace, sequences[1], added_texts); });
  if (post_processor) {
    const std::function<Margins(const Token&)> find_margins = [&](const Token& token) {
      if (token.added >= 0) return margins_of(added_texts[static_cast<std::size_t>(token.added)]);
      const auto id = static_cast<std::size_t>(token.id);
      return id < margins.size() ? margins[id] : Margins{};
    };
    post_processor->apply(sequences, {options.add_special_tokens, &find_margins});
  }
  Encoding result;
  std::size_t count = 0;
  for (const TokenList& tokens : sequences) count += tokens.size();
  result.ids.reserve(count);
  result.type_ids.reserve(count);
  result.offsets.reserve(count);
  result.sequences.reserve(count);
  for (const TokenList& tokens : sequences)
    for (const Token& one : tokens) {
      result.ids.push_back(one.id);
      result.type_ids.push_back(one.type);
      result.offsets.push_back({one.begin, one.end});
      result.sequences.push_back(one.sequence);
      if (options.tokens)
        result.tokens.emplace_back(one.added >= 0 ? std::string_view(added_texts[static_cast<std::size_t>(one.added)])
                                                  : token(one.id));
    }
  return result;
}

Encoding Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  return encode(TextPair{text}, options);
}

Encoding Tokenizer::encode(const TextPair& input, EncodeOptions options) const {
  auto workspace = parts_->borrow();
  Encoding result = parts_->encode(input, options, *workspace);
  parts_->give_back(std::move(workspace));
  return result;
}

std::vector<Encoding> Tokenizer::encode_batch(std::span<const TextPair> inputs, EncodeOptions options) const {
  std::vector<Encoding> results(inputs.size());
  parallel(static_cast<std::int64_t>(inputs.size()), 16, [&](std::int64_t begin, std::int64_t end) {
    auto workspace = parts_->borrow();
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (const auto bad = find_invalid_utf8(inputs[at].text)) check_utf8(inputs[at].text, fmt::format("text {}", i));
      results[at] = parts_->encode(inputs[at], options, *workspace);
    }
    parts_->give_back(std::move(workspace));
  });
  return results;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (std::int32_t id : ids)
    if (const auto text = parts_->decoded_token(id, skip_special_tokens)) tokens.emplace_back(*text);
  if (parts_->decoder) parts_->decoder->apply(tokens);
  std::string result;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && !parts_->decoder) result += ' ';
    result += tokens[i];
  }
  return result;
}

std::int32_t Tokenizer::size() const {
  std::int32_t count = parts_->model->vocabulary().size();
  for (const AddedToken& token : added_tokens()) count += parts_->model->vocabulary().find(token.content) < 0;
  return count;
}

std::int32_t Tokenizer::limit() const {
  const std::int32_t own = parts_->model->vocabulary().limit();
  return added_tokens().empty() ? own : std::max(own, added_tokens().back().id + 1);
}

std::optional<std::int32_t> Tokenizer::id_of(std::string_view token) const {
  if (const AddedToken* added = parts_->added.find(token)) return added->id;
  const std::int32_t id = parts_->model->vocabulary().find(token);
  return id < 0 ? std::nullopt : std::optional(id);
}

std::optional<std::string> Tokenizer::token_of(std::int32_t id) const {
  if (!parts_->added.find(id) && !parts_->model->vocabulary().has(id)) return std::nullopt;
  return std::string(parts_->token(id));
}

const std::vector<AddedToken>& Tokenizer::added_tokens() const { return parts_->added.list(); }

bool Tokenizer::is_special(std::int32_t id) const {
  const AddedToken* token = parts_->added.find(id);
  return token && token->special;
}

std::optional<std::int32_t> Tokenizer::unknown_token() const {
  const std::int32_t id = parts_->model->unknown_token();
  return id < 0 ? std::nullopt : std::optional(id);
}

bool Tokenizer::marks_continuations() const { return parts_->model->marks_continuations(); }

const std::string& Tokenizer::truncation() const { return parts_->truncation; }
const std::string& Tokenizer::padding() const { return parts_->padding; }

}  // namespace attune
