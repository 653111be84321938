#include "attune/tasks/text_encoder.h"

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/data/chunks.h"
#include "attune/data/sections.h"

namespace attune {

namespace {

/// Byte places of a text as code points, which token offsets count in. `places` ascend.
std::vector<std::size_t> in_code_points(std::string_view text, const std::vector<std::size_t>& places) {
  std::vector<std::size_t> points;
  std::size_t byte = 0, point = 0;
  for (std::size_t place : places) {
    for (; byte < place && byte < text.size(); ++byte) point += (static_cast<unsigned char>(text[byte]) & 0xC0) != 0x80;
    points.push_back(point);
  }
  return points;
}

CutPoints cut_points(std::string_view text, const Encoding& encoding) {
  std::vector<std::size_t> sections, token_begins;
  for (const Section& section : find_sections(text)) sections.push_back(section.begin);
  for (const auto& range : encoding.offsets) token_begins.push_back(static_cast<std::size_t>(range.begin));
  return {.sections = tokens_at(token_begins, in_code_points(text, sections)),
          .sentences = tokens_at(token_begins, in_code_points(text, find_sentences(text)))};
}

}  // namespace

TextEncoder::TextEncoder(Tokenizer tokenizer, LongPolicy policy, std::int64_t model_longest)
    : tokenizer_(std::move(tokenizer)), policy_(policy), longest_(policy.longest > 0 ? policy.longest : model_longest) {
  // What the post-processor puts around a text is read off one that is not empty.
  Encoding probe = tokenizer_.encode("a");
  bool seen = false;
  for (std::size_t i = 0; i < probe.size(); ++i) {
    seen = seen || !probe.special(i);
    if (probe.special(i)) (seen ? after_ : before_).push_back(probe.ids[i]);
  }
  auto special = static_cast<std::int64_t>(before_.size() + after_.size());
  check(longest_ == 0 || longest_ > special, "a longest input of {} tokens leaves no room beside {} special tokens",
        longest_, special);
  check(model_longest == 0 || longest_ <= model_longest, "the longest input is set to {} tokens: the model takes {}",
        longest_, model_longest);
}

EncodedText TextEncoder::encode(std::string_view text) const {
  const Encoding encoding = tokenizer_.encode(text, {.add_special_tokens = false});
  EncodedText result;
  for (const Chunk& piece : pieces(text, encoding)) {
    result.chunks.push_back(ids_of(encoding, piece));
    result.tokens += static_cast<std::int64_t>(result.chunks.back().size());
  }
  return result;
}

std::vector<EncodedText> TextEncoder::encode_all(const std::vector<std::string_view>& texts) const {
  std::vector<EncodedText> encoded(texts.size());
  parallel(static_cast<std::int64_t>(texts.size()), 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      auto at = static_cast<std::size_t>(i);
      if (texts.size() == 1)
        encoded[at] = encode(texts[at]);
      else
        encoded[at] = within("text " + std::to_string(i + 1), [&] { return encode(texts[at]); });
    }
  });
  return encoded;
}

std::vector<Chunk> TextEncoder::pieces(std::string_view text, const Encoding& encoding) const {
  const auto tokens = static_cast<std::int64_t>(encoding.size());
  const auto special = static_cast<std::int64_t>(before_.size() + after_.size());
  if (longest_ == 0 || tokens + special <= longest_) return {{0, tokens}};
  check(
      policy_.kind != LongPolicy::Kind::refuse,
      "the text has {} tokens and the model takes {}: shorten or divide it (where --long is an option, it may be read "
      "in pieces: --long chunk)",
      tokens + special, longest_);
  const std::int64_t room = longest_ - special;
  if (policy_.kind == LongPolicy::Kind::stride) return stride_chunks(tokens, room, room / 4);
  return pack_chunks(tokens, cut_points(text, encoding), room);
}

std::vector<std::int64_t> TextEncoder::ids_of(const Encoding& encoding, const Chunk& piece) const {
  std::vector<std::int64_t> ids = before_;
  ids.insert(ids.end(), encoding.ids.begin() + piece.begin, encoding.ids.begin() + piece.end);
  ids.insert(ids.end(), after_.begin(), after_.end());
  return ids;
}

}  // namespace attune
