#include "attune/text/tokenizer.h"

namespace attune {

namespace {

/// True where the text may still change at its end: an unfinished character decodes to U+FFFD.
bool unfinished(const std::string& text) { return text.ends_with("\xEF\xBF\xBD"); }

std::size_t common_length(const std::string& a, const std::string& b) {
  std::size_t length = 0;
  while (length < a.size() && length < b.size() && a[length] == b[length]) ++length;
  return length;
}

}  // namespace

// A token's text may depend on the one before (spaces, "##"), so the window keeps the last group of tokens that gave
// text, and the new text is what the whole window decodes to beyond what that group did.
std::string StreamDecoder::push(std::int32_t id) {
  window_.push_back(id);
  const std::string text = tokenizer_.decode(window_, skip_);
  if (text.size() <= known_text_.size() || unfinished(text)) return {};
  const std::string fresh = text.substr(common_length(text, known_text_));
  window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(known_));
  known_ = window_.size();
  known_text_ = tokenizer_.decode(window_, skip_);
  return fresh;
}

std::string StreamDecoder::finish() {
  const std::string text = tokenizer_.decode(window_, skip_);
  const std::string fresh = text.substr(common_length(text, known_text_));
  window_.clear();
  known_ = 0;
  known_text_.clear();
  return fresh;
}

}  // namespace attune
