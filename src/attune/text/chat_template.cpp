#include "attune/text/chat_template.h"

#include <map>
#include <utility>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/text/template/template.h"

namespace attune {

struct ChatTemplate::Parts {
  std::string source;
  std::map<std::string, jinja::Template> named = {};           // "default", "tool_use", ...
  std::map<std::string, std::string> texts = {};               // of the same names
  std::vector<std::pair<std::string, JsonValue>> tokens = {};  // "bos_token": "<s>", ...
};

namespace {

using jinja::Template;

constexpr const char* token_names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                       "pad_token", "cls_token", "mask_token"};

Json read_json_if_there(const Path& file) {
  if (!std::filesystem::exists(file)) return Json::object();
  Json json = read_json(file);
  check(json.is_object(), "reading {}: expected a JSON object", file.string());
  return json;
}

/// A token, given as a string or as {"content": ...}; null where there is none.
Json token_of(const Json& from, const char* name) {
  if (!from.contains(name)) return nullptr;
  const Json& token = from[name];
  if (token.is_string()) return token;
  if (token.is_object() && token.contains("content") && token["content"].is_string()) return token["content"];
  return nullptr;
}

/// A later one of the same name takes the place of the one before.
void set_text(std::vector<ChatTexts::Named>& all, ChatTexts::Named one) {
  std::erase_if(all, [&](const ChatTexts::Named& other) { return other.name == one.name; });
  all.push_back(std::move(one));
}

void add_templates(std::vector<ChatTexts::Named>& to, const Json& config, const std::string& source) {
  const Json& given = config["chat_template"];
  if (given.is_string()) {
    set_text(to, {"default", source + ", chat_template", given.get<std::string>()});
    return;
  }
  const auto named = [&](const std::string& name) { return fmt::format("{}, chat_template \"{}\"", source, name); };
  if (given.is_object()) {
    for (const auto& [name, text] : given.items()) {
      check(text.is_string(), "reading {}: {} is no text", source, named(name));
      set_text(to, {name, named(name), text.get<std::string>()});
    }
    return;
  }
  check(given.is_array(), "reading {}: \"chat_template\" is neither a text nor a list", source);
  for (const Json& one : given) {
    const bool fits = one.is_object() && one.contains("name") && one["name"].is_string() && one.contains("template") &&
                      one["template"].is_string();
    check(fits, "reading {}: \"chat_template\" lists what is no {{\"name\": ..., \"template\": ...}}", source);
    const auto name = one["name"].get<std::string>();
    set_text(to, {name, named(name), one["template"].get<std::string>()});
  }
}

/// The files of their own: where there are any, tokenizer_config.json's do not count, as in transformers.
void add_files(std::vector<ChatTexts::Named>& to, const Path& directory) {
  bool first = true;
  const auto add = [&](const std::string& name, const Path& file) {
    if (std::exchange(first, false)) to.clear();
    set_text(to, {name, file.string(), read_file(file)});
  };
  if (const Path file = directory / "chat_template.jinja"; std::filesystem::exists(file)) add("default", file);
  const Path others = directory / "additional_chat_templates";
  if (!std::filesystem::is_directory(others)) return;
  for (const auto& entry : std::filesystem::directory_iterator(others))
    if (entry.path().extension() == ".jinja") add(entry.path().stem().string(), entry.path());
}

/// As transformers prepares messages: keys that are null are gone, and thoughts have both names.
Json prepared(const Json& messages, const std::string& source) {
  check(messages.is_array() && !messages.empty(), "{}: a conversation is a list of at least one message", source);
  Json all = Json::array();
  for (const Json& message : messages) {
    check(message.is_object(), "{}: message {} is no object with a \"role\" and a \"content\"", source, all.size() + 1);
    Json kept = Json::object();
    for (const auto& [key, value] : message.items())
      if (!value.is_null()) kept[key] = value;
    for (const char* name : {"reasoning_content", "thinking", "reasoning"}) {
      if (!kept.contains(name)) continue;
      const Json thoughts = kept[name];
      Json whole = Json::object();
      whole["thinking"] = thoughts;
      for (const auto& [key, value] : kept.items()) whole[key] = value;
      whole["reasoning_content"] = thoughts;
      kept = std::move(whole);
      break;
    }
    all.push_back(std::move(kept));
  }
  return all;
}

void check_objects(const JsonValue& list, const char* what, const std::string& source) {
  if (list->is_null()) return;
  check(list->is_array(), "{}: {} are a list", source, what);
  for (const Json& one : *list) check(one.is_object(), "{}: {} are a list of objects", source, what);
}

}  // namespace

ChatTemplate::ChatTemplate(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

ChatTexts ChatTexts::read(const Path& directory) {
  const Path file = directory / "tokenizer_config.json";
  const Json config = read_json_if_there(file), map = read_json_if_there(directory / "special_tokens_map.json");
  ChatTexts texts{.model = directory.string()};
  if (config.contains("chat_template") && !config["chat_template"].is_null())
    add_templates(texts.named, config, file.string());
  add_files(texts.named, directory);
  Json tokens = Json::object();
  for (const char* name : token_names) {
    Json token = token_of(config, name);
    if (token.is_null()) token = token_of(map, name);
    if (!token.is_null()) tokens[name] = token;
  }
  texts.special_tokens = tokens;
  return texts;
}

const std::string* ChatTexts::find(const std::string& name) const {
  for (const Named& one : named)
    if (one.name == name) return &one.text;
  return nullptr;
}

ChatTemplate ChatTemplate::parse(std::string_view text, const std::string& source) {
  return of({.model = source, .named = {{"default", source, std::string(text)}}});
}

ChatTemplate ChatTemplate::of(const ChatTexts& texts) {
  check(
      !texts.named.empty(),
      "{}: the model has no chat template (chat_template.jinja, or \"chat_template\" in tokenizer_config.json; in a "
      ".gguf file \"tokenizer.chat_template\"): it was not made for conversations; `attune generate` continues a text",
      texts.model);
  auto parts = std::make_shared<Parts>();
  parts->source = texts.model;
  for (const ChatTexts::Named& one : texts.named) {
    parts->named.insert_or_assign(one.name, Template::parse(one.text, one.source));
    parts->texts.insert_or_assign(one.name, one.text);
  }
  if (texts.special_tokens->is_object())
    for (const auto& [name, token] : texts.special_tokens->items()) parts->tokens.emplace_back(name, token);
  return ChatTemplate(std::move(parts));
}

std::string ChatTemplate::render(const ChatInput& input) const {
  const std::string& source = parts_->source;
  check_objects(input.tools, "tools", source);
  check_objects(input.documents, "documents", source);
  check(input.variables->is_null() || input.variables->is_object(), "{}: variables are an object of names and values",
        source);
  jinja::Variables variables{.values = parts_->tokens, .now = input.now};
  const auto set = [&](const std::string& name, const JsonValue& value) { variables.values.emplace_back(name, value); };
  if (input.variables->is_object())
    for (const auto& [name, value] : input.variables->items()) set(name, value);
  set("messages", prepared(*input.messages, source));
  set("tools", input.tools);
  set("documents", input.documents);
  set("add_generation_prompt", Json(input.add_generation_prompt));
  return parts_->named.at(chosen(input)).render(variables);
}

const std::string& ChatTemplate::chosen(const ChatInput& input) const {
  const auto wanted = input.tools->is_null() ? parts_->named.end() : parts_->named.find("tool_use");
  const auto found = wanted != parts_->named.end() ? wanted : parts_->named.find("default");
  check(found != parts_->named.end(), "{}: the model has several chat templates, and none is called \"default\"",
        parts_->source);
  return found->first;
}

bool ChatTemplate::mentions(std::string_view name, const ChatInput& input) const {
  const std::string& text = parts_->texts.at(chosen(input));
  const auto in_word = [&](std::size_t at) {
    const char c = at < text.size() ? text[at] : ' ';
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + name.size())) return true;
  return false;
}

}  // namespace attune
