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
  return pack(text, tokenizer_.encode(text, {.add_special_tokens = false}));
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

EncodedText TextEncoder::pack(std::string_view text, const Encoding& encoding) const {
  auto tokens = static_cast<std::int64_t>(encoding.size());
  auto special = static_cast<std::int64_t>(before_.size() + after_.size());
  std::vector<Chunk> chunks = {{0, tokens}};
  if (longest_ > 0 && tokens + special > longest_) {
    check(policy_.kind == LongPolicy::Kind::chunk,
          "the text has {} tokens and the model takes {}: shorten or divide it (a classifier may read it in pieces: "
          "--long chunk)",
          tokens + special, longest_);
    chunks = pack_chunks(tokens, cut_points(text, encoding), longest_ - special);
  }
  EncodedText result;
  for (const Chunk& chunk : chunks) {
    std::vector<std::int64_t> ids = before_;
    ids.insert(ids.end(), encoding.ids.begin() + chunk.begin, encoding.ids.begin() + chunk.end);
    ids.insert(ids.end(), after_.begin(), after_.end());
    result.tokens += static_cast<std::int64_t>(ids.size());
    result.chunks.push_back(std::move(ids));
  }
  return result;
}

}  // namespace attune
