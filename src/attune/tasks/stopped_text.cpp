#include "attune/tasks/stopped_text.h"

#include <algorithm>

namespace attune {

std::string StoppedText::push(std::string_view piece) {
  if (stopped_) return {};
  text_ += piece;
  std::size_t end = std::string::npos;
  for (const std::string& stop : stops_)
    if (!stop.empty()) end = std::min(end, text_.find(stop, given_));
  if (end != std::string::npos) {
    stopped_ = true;
    return give(end);
  }
  // The longest end of the text that a stop text begins with.
  std::size_t held = 0;
  for (const std::string& stop : stops_)
    for (std::size_t n = std::min(stop.size(), text_.size() - given_); n > held; --n)
      if (text_.ends_with(std::string_view(stop).substr(0, n))) held = n;
  return give(text_.size() - held);
}

std::string StoppedText::finish() { return stopped_ ? std::string() : give(text_.size()); }

std::string StoppedText::give(std::size_t end) {
  std::string fresh = text_.substr(given_, end - given_);
  given_ = end;
  return fresh;
}

}  // namespace attune
