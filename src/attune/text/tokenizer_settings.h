#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attune/base/file.h"
#include "attune/text/json_view.h"

namespace attune {

/// What a directory without tokenizer.json says about its tokenizer, in tokenizer_config.json; all defaults where that
/// is missing.
class TokenizerSettings {
 public:
  explicit TokenizerSettings(const Path& directory) : file_(directory / "tokenizer_config.json") {
    if (std::filesystem::exists(file_)) json_ = JsonView::parse(read_file(file_), file_.string());
  }

  bool has(std::string_view key) const { return json_ && json_->has(key); }
  bool flag(std::string_view key, bool otherwise) const { return json_ ? json_->flag_or(key, otherwise) : otherwise; }
  std::string text(std::string_view key) const { return json_ ? json_->string_or(key, "") : ""; }
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const {
    return has(key) ? json_->at(key).integer(0, 1'000'000) : otherwise;
  }
  /// A token, given as a string or as {"content": ...}.
  std::string token(std::string_view key, std::string otherwise) const {
    if (!has(key)) return otherwise;
    const JsonView value = json_->at(key);
    return std::string(value.is_object() ? value.at("content").string() : value.string());
  }
  /// The file, where there is one.
  const JsonView& json() const { return *json_; }
  const Path& path() const { return file_; }

 private:
  Path file_;
  std::optional<JsonView> json_;
};

}  // namespace attune
