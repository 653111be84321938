#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "attune/base/error.h"

namespace attune {

/// A value of a parsed JSON file, read strictly: every fault is an Error "SOURCE: PATH: ..." with the value's path.
/// Made for tokenizer files, whose objects of 100,000 keys base/json.h would take seconds for. Copies share the
/// document.
class JsonView {
 public:
  /// Throws Error on a syntax error or bad UTF-8.
  static JsonView parse(std::string_view text, const std::string& source);

  const std::string& path() const { return path_; }
  bool is_null() const;
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;

  std::string_view string() const;
  std::int64_t integer(std::int64_t at_least, std::int64_t at_most) const;
  bool flag() const;

  /// Members of an object. `has`: there and not null. `at` throws unless there.
  bool has(std::string_view key) const;
  JsonView at(std::string_view key) const;
  std::string string_or(std::string_view key, std::string otherwise) const;
  std::optional<std::string> optional_string(std::string_view key) const;
  bool flag_or(std::string_view key, bool otherwise) const;
  bool flag(std::string_view key) const { return at(key).flag(); }
  std::string string(std::string_view key) const { return std::string(at(key).string()); }
  /// Throws unless this is an object whose keys are all among `keys`, none twice.
  void only(std::initializer_list<std::string_view> keys) const;
  /// One of `keys` if the object has it, else none of them.
  bool has_key(std::string_view key) const;  // also where it is null

  void each_element(const std::function<void(const JsonView&)>& visit) const;
  void each_member(const std::function<void(std::string_view, const JsonView&)>& visit) const;
  /// An object of whole numbers from 0: the long one of vocabularies.
  void each_id(const std::function<void(std::string_view, std::int64_t)>& visit) const;
  /// An array of "a b" or of ["a", "b"]: merges. "a b" must have exactly one space.
  void each_pair(const std::function<void(std::string_view, std::string_view)>& visit) const;
  /// An array of ["a", number]: the vocabulary of a unigram model.
  void each_score(const std::function<void(std::string_view, double)>& visit) const;
  std::int64_t size() const;  // of an array or object

  /// The value as JSON text in one line.
  std::string text() const;

  template <class... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: {}: {}", source(), path_.empty() ? "the file" : path_, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  struct Document;
  using Element = std::array<std::uint64_t, 2>;  // the bytes of a simdjson element, whose header stays in the source

  JsonView(std::shared_ptr<const Document> document, Element element, std::string path)
      : document_(std::move(document)), element_(element), path_(std::move(path)) {}
  const std::string& source() const;
  JsonView member(std::string_view key, Element element) const;

  std::shared_ptr<const Document> document_;
  Element element_;
  std::string path_;
};

}  // namespace attune
