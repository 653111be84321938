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

/// What a template finds under these names is the conversation's.
constexpr const char* set_names[] = {"messages", "tools", "documents", "add_generation_prompt"};

bool is_function(const Json& tool) {
  if (!tool.is_object() || !tool.contains("type") || tool["type"] != "function" || !tool.contains("function"))
    return false;
  const Json& function = tool["function"];
  return function.is_object() && function.contains("name") && function["name"].is_string();
}

/// What is given must stand in the prompt.
void check_read(const ChatTemplate& chat, const ChatInput& input) {
  const auto is_read = [&](const char* name, const JsonValue& given) {
    check(given->empty() || chat.mentions(name, input),
          "the model's chat template has no place for {}: leave them out, or take a template that reads them", name);
  };
  is_read("tools", input.tools);
  is_read("documents", input.documents);
}

/// Messages whose content is a list of texts, with one text instead; null where there are none.
JsonValue joined_parts(Json messages) {
  bool any = false;
  for (Json& message : messages) {
    if (!message.is_object() || !message.contains("content") || !message["content"].is_array()) continue;
    std::string all;
    for (const Json& part : message["content"]) {
      if (!part.is_object() || !part.contains("text") || !part["text"].is_string()) return {};
      all += part["text"].get<std::string>();
    }
    message["content"] = all;
    any = true;
  }
  return any ? JsonValue(messages) : JsonValue();
}

std::string written(const ChatTemplate& chat, const ChatInput& input) {
  try {
    return chat.render(input);
  } catch (const Error& error) {
    ChatInput plain = input;
    plain.messages = joined_parts(*input.messages);
    if (plain.messages->is_null()) throw;
    try {
      chat.render(plain);
    } catch (const Error&) {
      throw error;
    }
    fail("{}: this template takes texts: write \"content\" as one text, not as a list of parts", error.what());
  }
}

std::vector<std::int64_t> prompt_of(const Bundle& bundle, const ChatTemplate& chat, const ChatInput& input) {
  check_given(input);
  check_read(chat, input);
  const Encoding encoding = bundle.text().encode(written(chat, input), {.add_special_tokens = false});
  const auto tokens = static_cast<std::int64_t>(encoding.ids.size()), longest = longest_sequence(bundle);
  check(tokens > 0, "the chat template of {} writes nothing for the conversation", bundle.path.string());
  if (longest != 0 && tokens >= longest)
    throw ConversationFull(fmt::format(
        "the conversation has {} tokens and the model takes {}, its answer included: say less, or begin a new one",
        tokens, longest));
  return {encoding.ids.begin(), encoding.ids.end()};
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

void check_given(const ChatInput& input) {
  const Json &tools = *input.tools, &documents = *input.documents, &variables = *input.variables;
  check(tools.is_null() || (tools.is_array() && std::ranges::all_of(tools, is_function)),
        "tools are a list of functions: "
        R"([{{"type": "function", "function": {{"name": ..., "description": ..., "parameters": ...}}}}, ...])");
  const auto is_object = [](const Json& one) { return one.is_object(); };
  check(documents.is_null() || (documents.is_array() && std::ranges::all_of(documents, is_object)),
        R"(documents are a list of objects: [{{"title": ..., "text": ...}}, ...])");
  check(variables.is_null() || variables.is_object(), "variables are an object of names and values");
  for (const char* name : set_names)
    check(!variables.contains(name), "variables have the name \"{}\", which the conversation sets itself: take it out",
          name);
}

void check_conversation(const Bundle& bundle, const ChatTemplate& chat, const ChatInput& input) {
  prompt_of(bundle, chat, input);
}

std::vector<GeneratedText> answer_conversations(const Bundle& bundle, const ChatTemplate& chat,
                                                std::span<const AskedConversation> conversations,
                                                const TextGeneration& options, const Run& run) {
  PromptTokens prompts = answered(bundle);
  for (const AskedConversation& asked : conversations)
    prompts.ids.push_back(within(asked.where, [&] { return prompt_of(bundle, chat, asked.input); }));
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
  check_given(beginning_);
  check_read(chat_, beginning_);
  restart();
}

GeneratedText Conversation::say(std::string_view text, const Run& run,
                                const std::function<void(std::string_view)>& sink) {
  Json messages = *messages_;
  messages.push_back(message_of("user", text));
  ChatInput input = beginning_;
  input.messages = messages;
  PromptTokens prompts = answered(bundle_);
  prompts.ids = {prompt_of(bundle_, chat_, input)};
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

AskedConversation conversation_of(const Document& document, const ChatInput& common, const std::string& messages) {
  const std::vector<std::string> known = {messages, "tools", "documents", "variables", "id"};
  for (const auto& [name, value] : document.fields) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    fail("{} is no member of a conversation{}: it has {}, and \"tools\", \"documents\", \"variables\" and \"id\"",
         json_quoted(name), near.empty() ? "" : ", did you mean " + json_quoted(near) + "?", json_quoted(messages));
  }
  AskedConversation asked{common, fmt::format("line {}", document.line)};
  const bool list = std::ranges::find(document.literals, messages) != document.literals.end();
  Json all = list ? parse_json(document.text, json_quoted(messages)) : Json::array({message_of("user", document.text)});
  check(all.is_array() && !all.empty(), "{} must be a list of at least one message", json_quoted(messages));
  if (begins_with_system(*common.messages) && !begins_with_system(all)) all.insert(all.begin(), (*common.messages)[0]);
  asked.input.messages = all;
  const auto take = [&](const char* name, JsonValue& to) {
    if (const JsonValue own = member_of(document, name); !own->is_null()) to = own;
  };
  take("tools", asked.input.tools);
  take("documents", asked.input.documents);
  take("variables", asked.input.variables);
  check_given(asked.input);
  return asked;
}

}  // namespace attune
