#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/file.h"
#include "attune/base/json.h"

namespace attune {

/// A conversation, as a chat template is given it.
struct ChatInput {
  JsonValue messages;        // [{"role": "user", "content": "..."}, ...], and whatever else a model's template reads
  JsonValue tools = {};      // JSON schemas of functions that the model may call; null: none
  JsonValue documents = {};  // [{"title": "...", "text": "..."}, ...]; null: none
  bool add_generation_prompt = true;  // end with what the model's answer follows
  JsonValue variables = {};  // an object of further names (enable_thinking, ...), which win over the model's tokens
  std::optional<std::tm> now = {};  // what strftime_now() tells; without it a template finds no such function
};

/// A model's chat templates as its files hold them: unread Jinja.
struct ChatTexts {
  struct Named {
    std::string name;    // "default"; "tool_use" is for conversations with tools
    std::string source;  // names it in errors
    std::string text;
  };
  std::string model;  // names the model in errors
  std::vector<Named> named = {};
  JsonValue special_tokens = {};  // {"bos_token": "<s>", ...}; null for none

  /// A model directory's: chat_template.jinja (and additional_chat_templates/tool_use.jinja), else "chat_template" in
  /// tokenizer_config.json, which may be a list of named ones. bos_token, eos_token, ... are those of
  /// tokenizer_config.json and special_tokens_map.json. None is no error; throws Error, naming the file, for what is
  /// no such file.
  static ChatTexts read(const Path& directory);
  /// The text of that name; null where there is none.
  const std::string* find(const std::string& name) const;
};

/// How a model wants a conversation written: the template in Jinja's language that comes with it, rendered as
/// transformers' apply_chat_template renders it, to the byte. What a template may do is bounded: a hostile one ends
/// with an Error, and touches nothing. A handle: copies share one template. Safe from many threads at once.
///
///   ChatTemplate chat = ChatTemplate::open(model_directory);
///   std::string prompt = chat.render({.messages = Json::parse(R"([{"role": "user", "content": "Bonjour"}])")});
class ChatTemplate {
 public:
  /// A template's text; `source` names it in errors. Throws Error "SOURCE, line N: what" for what is no template.
  static ChatTemplate parse(std::string_view text, const std::string& source);

  /// "tool_use" is for conversations with tools, "default" for all others. Throws Error that names the files where the
  /// model has none, and as parse() does.
  static ChatTemplate of(const ChatTexts& texts);
  /// A model directory's, as ChatTexts::read() finds them.
  static ChatTemplate open(const Path& directory) { return of(ChatTexts::read(directory)); }

  /// The text that the model is to continue. As transformers does, messages lose keys that are null, and what a model
  /// thought ("reasoning_content", "thinking" or "reasoning") is given under the first two names. Throws Error
  /// "SOURCE, line N: what" where the template refuses the conversation or fails.
  std::string render(const ChatInput& input) const;
  /// Whether the template that writes `input` has the word `name` ("tools") anywhere in its text; one that has not
  /// leaves what is given by that name out.
  bool mentions(std::string_view name, const ChatInput& input) const;

 private:
  struct Parts;
  explicit ChatTemplate(std::shared_ptr<const Parts> parts);
  const std::string& chosen(const ChatInput& input) const;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace attune
