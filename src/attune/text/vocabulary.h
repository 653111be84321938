#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attune/text/json_view.h"
#include "attune/text/string_table.h"

namespace attune {

/// Tokens and their ids, both ways. Ids may have holes.
class Vocabulary {
 public:
  static constexpr std::int32_t none = -1;

  /// From a tokenizer file's {"token": id, ...}. Throws Error on a token or an id given twice, or ids far beyond the
  /// count.
  static Vocabulary read(const JsonView& object);

  std::int32_t find(std::string_view token) const { return find(token, hash_bytes(token)); }
  /// The same where the hash_bytes() of the token is known, and the memory for it may have been asked for.
  std::int32_t find(std::string_view token, std::uint64_t hash) const {
    const std::int32_t number = tokens_.find(token, hash);
    return number < 0 ? none : ids_[static_cast<std::size_t>(number)];
  }
  void prefetch(std::uint64_t hash) const { tokens_.prefetch(hash); }
  bool has(std::int32_t id) const { return id >= 0 && id < limit() && numbers_[static_cast<std::size_t>(id)] >= 0; }
  /// The token of an id that the vocabulary has.
  std::string_view token(std::int32_t id) const { return tokens_[numbers_[static_cast<std::size_t>(id)]]; }

  std::int32_t size() const { return static_cast<std::int32_t>(count_); }            // tokens
  std::int32_t limit() const { return static_cast<std::int32_t>(numbers_.size()); }  // largest id + 1

  /// Tokens whose ids are their places. One given twice keeps both ids; find() gives the last, as Hugging Face's does.
  static Vocabulary of_list(const std::vector<std::string>& tokens);

  /// As JSON, in the order of ids.
  void write(std::string& json) const;

 private:
  StringTable tokens_;
  std::vector<std::int32_t> ids_;      // [tokens], in the order of coming
  std::vector<std::int32_t> numbers_;  // [limit], the token's number in tokens_, or -1
  std::size_t count_ = 0;
};

}  // namespace attune
