#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attune/base/file.h"
#include "attune/text/json_view.h"

namespace attune {

/// What a directory without tokenizer.json says about its tokenizer, in tokenizer_config.json, and of single tokens in
/// special_tokens_map.json; all defaults where those are missing.
class TokenizerSettings {
 public:
  explicit TokenizerSettings(const Path& directory);

  bool has(std::string_view key) const { return json_ && json_->has(key); }
  bool flag(std::string_view key, bool otherwise) const { return json_ ? json_->flag_or(key, otherwise) : otherwise; }
  std::string text(std::string_view key) const { return json_ ? json_->string_or(key, "") : ""; }
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const {
    return has(key) ? json_->at(key).integer(0, 1'000'000) : otherwise;
  }
  /// A token, given as a string or as {"content": ...}.
  std::string token(std::string_view key, std::string otherwise) const;
  /// Whether a token takes the spaces before it, which only {"content": ..., "lstrip": ...} says.
  bool takes_space_before(std::string_view key, bool otherwise) const;
  /// The class that the directory names, without "Fast"; else the one that belongs to config.json's model_type; ""
  /// where neither says one, or only that it comes from a tokenizer.json.
  std::string tokenizer_class() const;
  /// The file, where there is one.
  const JsonView& json() const { return *json_; }
  const Path& path() const { return file_; }

 private:
  std::optional<JsonView> find(std::string_view key) const;

  Path file_;
  std::optional<JsonView> json_, tokens_;
};

}  // namespace attune
