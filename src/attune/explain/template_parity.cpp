#include "attune/explain/template_parity.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "attune/base/error.h"
#include "attune/base/json_values.h"

namespace attune::explain {

namespace {

Json message(const char* role, const char* text) { return Json{{"role", role}, {"content", text}}; }

std::vector<ChatInput> short_conversations() {
  const Json system = message("system", "Answer in one sentence."), user = message("user", "What is 7 * 8?"),
             answer = message("assistant", "It is 56."), more = message("user", "And thirty more? Größer!");
  const Json number = Json{{"type", "number"}, {"description", "A number."}};
  const Json tool = Json{{"type", "function"},
                         {"function", Json{{"name", "add"},
                                           {"description", "Adds two numbers."},
                                           {"parameters", Json{{"type", "object"},
                                                               {"properties", Json{{"a", number}, {"b", number}}},
                                                               {"required", Json::array({"a", "b"})}}}}}};
  std::tm day{};
  day.tm_year = 124, day.tm_mon = 1, day.tm_mday = 29;
  return {{.messages = Json::array({user}), .now = day},
          {.messages = Json::array({system, user}), .now = day},
          {.messages = Json::array({user, answer, more}), .now = day},
          {.messages = Json::array({system, user, answer}), .add_generation_prompt = false, .now = day},
          {.messages = Json::array({user}), .tools = Json::array({tool}), .now = day}};
}

/// None where the template refuses the conversation, or there is none that can be read.
std::optional<std::string> rendered(const Bundle& bundle, const ChatInput& input) {
  try {
    return ChatTemplate::of(bundle.chat).render(input);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// What both say from a little before the place where they part.
std::string parting(const std::optional<std::string>& a, const std::optional<std::string>& b) {
  if (!a || !b)
    return fmt::format("the {} refuses it, the other writes {}", a ? "second" : "first",
                       json_quoted((a ? a : b)->substr(0, 60)));
  const auto at = static_cast<std::size_t>(
      std::mismatch(a->begin(), a->begin() + static_cast<std::ptrdiff_t>(std::min(a->size(), b->size())), b->begin())
          .first -
      a->begin());
  std::size_t from = at > 20 ? at - 20 : 0;
  while (from > 0 && (static_cast<unsigned char>((*a)[from]) & 0xC0) == 0x80) --from;
  const auto part = [&](const std::string& text) {
    std::size_t end = std::min(text.size(), at + 20);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    return json_quoted(std::string_view(text).substr(from, end - from));
  };
  return part(*a) + " and " + part(*b);
}

}  // namespace

TemplateParity compare_templates(const Bundle& first, const Bundle& second) {
  TemplateParity parity{.any = !first.chat.named.empty() || !second.chat.named.empty()};
  if (!parity.any) return parity;
  for (const ChatInput& input : short_conversations()) {
    const std::optional<std::string> a = rendered(first, input), b = rendered(second, input);
    if (!a && !b) continue;
    ++parity.conversations;
    if (a != b) {
      if (parity.other_texts++ == 0) parity.first_other = parting(a, b);
    } else if (a) {
      const EncodeOptions plain{.add_special_tokens = false};
      parity.other_ids += first.text().encode(*a, plain).ids != second.text().encode(*b, plain).ids;
    }
  }
  return parity;
}

}  // namespace attune::explain
