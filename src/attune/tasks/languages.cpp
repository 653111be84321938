#include "attune/tasks/languages.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "attune/base/error.h"

namespace attune {

namespace {

bool letters(std::string_view text, std::size_t least, std::size_t most) {
  return text.size() >= least && text.size() <= most &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

/// "ro_RO" of itself, "fr" of "__fr__"; none of other tokens.
std::optional<std::string> language_of(std::string_view token) {
  if (token.size() > 4 && token.starts_with("__") && token.ends_with("__")) {
    const std::string_view inside = token.substr(2, token.size() - 4);
    if (letters(inside, 2, 3)) return std::string(inside);
    return std::nullopt;
  }
  const std::size_t line = token.find('_');
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view language = token.substr(0, line), place = token.substr(line + 1);
  const bool lower = std::ranges::all_of(language, [](char c) { return c >= 'a' && c <= 'z'; });
  if (!lower || !letters(language, 2, 3) || !(letters(place, 2, 2) || letters(place, 4, 4))) return std::nullopt;
  if (place[0] < 'A' || place[0] > 'Z') return std::nullopt;
  return std::string(token);
}

}  // namespace

Languages::Languages(const Tokenizer& tokenizer) {
  for (const AddedToken& token : tokenizer.added_tokens())
    if (token.special)
      if (std::optional<std::string> language = language_of(token.content)) ids_[*language] = token.id;
}

bool Languages::has(std::int64_t id) const {
  return std::ranges::any_of(ids_, [id](const auto& entry) { return entry.second == id; });
}

std::int64_t Languages::id_of(const std::string& language, std::string_view option) const {
  check(!empty(), "this model's tokenizer has no tokens for languages: leave {} out", option);
  const std::string name = language_of(language).value_or(language);
  if (auto exact = ids_.find(name); exact != ids_.end()) return exact->second;
  std::vector<std::string> fitting;
  for (const auto& [known, id] : ids_)
    if (known.starts_with(name + "_")) fitting.push_back(known);
  if (fitting.size() == 1) return ids_.find(fitting.front())->second;
  check(fitting.empty(), "{} \"{}\" may be {}: say which", option, language, fmt::join(fitting, " or "));
  fail("{} \"{}\" is not among this model's languages: {}", option, language, some());
}

std::string Languages::some() const {
  constexpr std::size_t most = 60;
  std::string names;
  std::size_t count = 0;
  for (const auto& [name, id] : ids_) {
    if (count == most) return names + fmt::format(", ... ({} in all)", ids_.size());
    names += (count++ > 0 ? ", " : "") + name;
  }
  return names;
}

}  // namespace attune
