#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// A text that grows piece by piece until one of the stop texts stands in it: it ends before that one. What might still
/// be the beginning of a stop text is held back.
class StoppedText {
 public:
  explicit StoppedText(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// Returns the text that is certain now and was not before. Nothing is taken after a stop.
  std::string push(std::string_view piece);
  /// The same for what was held back, at the end.
  std::string finish();
  bool stopped() const { return stopped_; }
  /// All that push() and finish() returned.
  std::string_view text() const { return std::string_view(text_).substr(0, given_); }

 private:
  std::string give(std::size_t end);

  std::vector<std::string> stops_;
  std::string text_;
  std::size_t given_ = 0;
  bool stopped_ = false;
};

}  // namespace attune
