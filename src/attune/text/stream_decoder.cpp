#include "attune/text/tokenizer.h"
#include "attune/text/tokenizer_parts.h"

namespace attune {

namespace {

/// Tokens that may wait for text to come of them. No character takes so many, so they are damaged or repeat themselves.
constexpr std::size_t longest_wait = 64;
/// Of those, how many the text behind them may depend on.
constexpr std::size_t kept = 16;

/// True where the text may still change at its end: an unfinished character decodes to U+FFFD.
bool unfinished(const std::string& text) { return text.ends_with("\xEF\xBF\xBD"); }

}  // namespace

/// What the window decodes to beyond the text that was given. Where a run of byte tokens turns out not to be valid
/// after all, the decoder takes back what it had made of them; what was given stays, and the rest is decoded alone.
std::string StreamDecoder::beyond_known(const std::string& text) const {
  if (text.starts_with(known_text_)) return text.substr(known_text_.size());
  return tokenizer_.decode(std::span(window_).subspan(known_), skip_);
}

// A token's text may depend on the one before (spaces, "##"), so the window keeps the last group of tokens that gave
// text, and the new text is what the whole window decodes to beyond what that group did.
std::string StreamDecoder::push(std::int32_t id) {
  if (!tokenizer_.parts().decoded_token(id, skip_)) return {};
  window_.push_back(id);
  const std::string text = tokenizer_.decode(window_, skip_);
  const bool waits = text.size() <= known_text_.size() || unfinished(text);
  if (waits && window_.size() < known_ + longest_wait) return {};
  std::string fresh = text.size() > known_text_.size() ? beyond_known(text) : std::string();
  const std::size_t dropped = waits ? window_.size() - kept : known_;
  window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(dropped));
  known_ = window_.size();
  known_text_ = tokenizer_.decode(window_, skip_);
  return fresh;
}

std::string StreamDecoder::finish() {
  std::string fresh = beyond_known(tokenizer_.decode(window_, skip_));
  window_.clear();
  known_ = 0;
  known_text_.clear();
  return fresh;
}

}  // namespace attune
