#include "attune/text/vocabulary.h"

#include <algorithm>

#include "attune/base/json.h"

namespace attune {

Vocabulary Vocabulary::read(const JsonView& object) {
  Vocabulary result;
  const std::int64_t count = object.size();
  result.tokens_.reserve(static_cast<std::size_t>(count));
  result.ids_.reserve(static_cast<std::size_t>(count));
  const std::int64_t largest = count * 4 + 65536;  // holes are real, a file that asks for gigabytes is not
  object.each_id([&](std::string_view token, std::int64_t id) {
    if (id > largest) object.reject("the id of \"{}\" is {}, in a vocabulary of {} tokens", token, id, count);
    const std::int32_t number = result.tokens_.add(token);
    if (number < static_cast<std::int32_t>(result.ids_.size())) object.reject("has the token \"{}\" twice", token);
    result.ids_.push_back(static_cast<std::int32_t>(id));
    if (id >= result.limit()) result.numbers_.resize(static_cast<std::size_t>(id) + 1, none);
    std::int32_t& slot = result.numbers_[static_cast<std::size_t>(id)];
    if (slot >= 0) object.reject("\"{}\" and \"{}\" have the same id {}", result.tokens_[slot], token, id);
    slot = number;
    ++result.count_;
  });
  return result;
}

Vocabulary Vocabulary::of_list(const std::vector<std::string>& tokens) {
  Vocabulary result;
  for (const std::string& token : tokens) {
    const std::int32_t number = result.tokens_.add(token), id = static_cast<std::int32_t>(result.count_++);
    result.numbers_.push_back(number);
    if (number == static_cast<std::int32_t>(result.ids_.size())) {
      result.ids_.push_back(id);
    } else {
      result.ids_[static_cast<std::size_t>(number)] = id;
    }
  }
  return result;
}

void Vocabulary::write(std::string& json) const {
  json += '{';
  bool first = true;
  for (std::int32_t id = 0; id < limit(); ++id) {
    if (!has(id)) continue;
    if (!first) json += ',';
    first = false;
    json += json_quoted(token(id));
    json += ':';
    json += std::to_string(id);
  }
  json += '}';
}

}  // namespace attune
