#include "attune/tasks/chat.h"

#include <algorithm>

#include "attune/base/error.h"
#include "attune/base/json_values.h"

namespace attune {

namespace {

constexpr std::int64_t usual_answer = 1024;  // tokens

Json message_of(const char* role, std::string_view text) {
  return Json{{"role", role}, {"content", std::string(text)}};
}

std::vector<std::int64_t> prompt_of(const Bundle& bundle, const ChatTemplate& chat, const AskedConversation& asked) {
  return within(asked.where, [&] {
    const Encoding encoding = bundle.text().encode(chat.render(asked.input), {.add_special_tokens = false});
    const auto tokens = static_cast<std::int64_t>(encoding.ids.size()), longest = longest_sequence(bundle);
    check(tokens > 0, "the chat template of {} writes nothing for it", bundle.path.string());
    check(longest == 0 || tokens < longest,
          "the conversation has {} tokens and the model takes {}, its answer included: begin a new one, or say less",
          tokens, longest);
    return std::vector<std::int64_t>(encoding.ids.begin(), encoding.ids.end());
  });
}

/// Prompts that are answered, not continued.
PromptTokens answered(const Bundle& bundle) {
  PromptTokens prompts{.ids = {}, .apart = true, .usual_tokens = usual_answer};
  const Json& special = *bundle.chat.special_tokens;
  if (special.is_object() && special.contains("eos_token"))
    if (auto id = bundle.text().id_of(special["eos_token"].get<std::string>())) prompts.stop_ids.push_back(*id);
  return prompts;
}

/// A member of the record that is JSON of its own; null where there is none.
JsonValue member_of(const Document& document, const std::string& name) {
  const auto found = document.fields.find(name);
  if (found == document.fields.end()) return {};
  const bool literal = std::ranges::find(document.literals, name) != document.literals.end();
  return literal ? parse_json(found->second, json_quoted(name)) : Json(found->second);
}

bool begins_with_system(const Json& messages) {
  return messages.is_array() && !messages.empty() && messages[0].is_object() && messages[0].contains("role") &&
         messages[0]["role"] == "system";
}

}  // namespace

std::vector<GeneratedText> answer_conversations(const Bundle& bundle, const ChatTemplate& chat,
                                                std::span<const AskedConversation> conversations,
                                                const TextGeneration& options, const Run& run) {
  PromptTokens prompts = answered(bundle);
  for (const AskedConversation& asked : conversations) prompts.ids.push_back(prompt_of(bundle, chat, asked));
  return continue_prompts(bundle, prompts, options, run);
}

Conversation::Conversation(const Bundle& bundle, ChatTemplate chat, ChatInput beginning, TextGeneration options)
    : bundle_(bundle),
      chat_(std::move(chat)),
      beginning_(std::move(beginning)),
      options_(std::move(options)),
      kept_(std::make_unique<KeptTexts>()) {
  if (beginning_.messages->is_null()) beginning_.messages = Json::array();
  check(beginning_.messages->is_array(), "a conversation begins with a list of messages");
  restart();
}

GeneratedText Conversation::say(std::string_view text, const Run& run,
                                const std::function<void(std::string_view)>& sink) {
  Json messages = *messages_;
  messages.push_back(message_of("user", text));
  AskedConversation asked{beginning_, "the conversation"};
  asked.input.messages = messages;
  PromptTokens prompts = answered(bundle_);
  prompts.ids = {prompt_of(bundle_, chat_, asked)};
  prompts.kept = kept_.get();
  std::string told;
  const TextSink pieces = [&](std::size_t, std::string_view piece) {
    told += piece;
    if (sink) sink(piece);
  };
  const auto joins = [&](const std::string& answer) {
    messages.push_back(message_of("assistant", answer));
    messages_ = messages;
  };
  try {
    GeneratedText answer = continue_prompts(bundle_, prompts, options_, run, pieces)[0];
    joins(answer.text);
    return answer;
  } catch (const Cancelled&) {
    if (!told.empty()) joins(told);
    throw;
  }
}

DocumentFormat conversation_format() { return {.text_field = "messages", .nested_text = true}; }

AskedConversation conversation_of(const Document& document, const ChatInput& common) {
  AskedConversation asked{common, fmt::format("line {}", document.line)};
  within(asked.where, [&] {
    const bool list = std::ranges::find(document.literals, "messages") != document.literals.end();
    Json messages = list ? parse_json(document.text, "\"messages\"") : Json::array({message_of("user", document.text)});
    check(messages.is_array() && !messages.empty(), "\"messages\" must be a list of at least one message");
    if (begins_with_system(*common.messages) && !begins_with_system(messages))
      messages.insert(messages.begin(), (*common.messages)[0]);
    asked.input.messages = messages;
    const auto take = [&](const char* name, JsonValue& to) {
      if (const JsonValue own = member_of(document, name); !own->is_null()) to = own;
    };
    take("tools", asked.input.tools);
    take("documents", asked.input.documents);
    take("variables", asked.input.variables);
  });
  return asked;
}

}  // namespace attune
