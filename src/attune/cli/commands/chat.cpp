#include <fmt/core.h>
#include <unistd.h>

#include <ctime>

#include "attune/base/error.h"
#include "attune/base/json_values.h"
#include "attune/cli/chat_loop.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/decoding_arguments.h"
#include "attune/cli/input_output.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

struct ChatArguments {
  std::string model;
  InputArguments input{.text_option = "--message", .text = {}, .file = {}, .text_field = "messages"};
  std::optional<std::string> system, tools, variables, date, chat_template;
  OutputArguments output;
  TextGeneration options;
  std::string cache = "f32";
};

std::tm date_of(const std::optional<std::string>& given) {
  std::tm date{};
  if (!given) {
    const std::time_t now = std::time(nullptr);
    localtime_r(&now, &date);
    return date;
  }
  const char* end = strptime(given->c_str(), "%Y-%m-%d", &date);
  check_usage(end && *end == 0, "--date \"{}\": expected a day, YYYY-MM-DD", *given);
  return date;
}

/// What all conversations are given, unless their line says otherwise.
ChatInput common_input(const ChatArguments& a) {
  ChatInput input{.messages = Json::array(), .now = date_of(a.date)};
  if (a.system) {
    check_utf8(*a.system, "--system");
    input.messages = Json::array({Json{{"role", "system"}, {"content", *a.system}}});
  }
  if (a.tools) {
    input.tools = read_json(*a.tools);
    within(*a.tools, [&] { check_given(input); });
  }
  if (a.variables) {
    try {
      input.variables = parse_json(*a.variables, "--variables");
      within("--variables", [&] { check_given(input); });
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  }
  return input;
}

ChatTemplate template_of(const ChatArguments& a, const Bundle& bundle) {
  if (!a.chat_template) return ChatTemplate::of(bundle.chat);
  return ChatTemplate::of({.model = *a.chat_template,
                           .named = {{"default", *a.chat_template, read_file(*a.chat_template)}},
                           .special_tokens = bundle.chat.special_tokens});
}

Json result_of(const GeneratedText& one) {
  return {{"text", one.text},
          {"finish_reason", name_of(one.reason)},
          {"tokens", one.tokens},
          {"generated_tokens", one.generated_tokens}};
}

int answer_all(const ChatArguments& a, const TextGeneration& options, const Session& session) {
  Documents documents = read_input_untold(a.input, conversation_format());
  Output out(a.output);
  const ChatInput common = common_input(a);
  const auto read = [&](const Document& document) { return conversation_of(document, common, a.input.text_field); };
  check_input(documents, a.input, read);  // before the model is read
  const Bundle bundle = load_bundle(a.model);
  tell_idle_seed(bundle, options, session);
  const ChatTemplate chat = template_of(a, bundle);
  std::vector<AskedConversation> asked;
  check_input(documents, a.input, [&](const Document& document) {
    AskedConversation one = read(document);
    check_conversation(bundle, chat, one.input);
    asked.push_back(std::move(one));
  });
  tell_skipped(documents);
  const std::vector<GeneratedText> answers = answer_conversations(bundle, chat, asked, options, session.run);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (a.output.json)
      out.record(documents.items[i], result_of(answers[i]));
    else
      out.line(answers.size() == 1 ? answers[i].text : documents.items[i].id + ": " + answers[i].text);
  }
  out.finish();
  if (!a.output.json) tell_unfinished(bundle, documents.items, answers);
  return 0;
}

int run_chat(const ChatArguments& a, const Session& session) {
  check_decoding(a.options, session);
  const bool asks = a.input.text || a.input.file;
  check_usage(asks || (!a.output.json && !a.output.file), "--json and --output are for --message and --input FILE");
  TextGeneration options = a.options;
  options.seed = session.seed;
  options.cache = cache_format(a.cache);
  const bool streams = a.input.text && !a.input.file && !a.output.json && !a.output.file && isatty(STDOUT_FILENO);
  if (asks && !streams) return answer_all(a, options, session);
  const ChatInput common = common_input(a);
  const Bundle bundle = load_bundle(a.model);
  tell_idle_seed(bundle, options, session);
  Conversation conversation(bundle, template_of(a, bundle), common, options);
  if (!streams) return converse(conversation, session);
  const Documents one = read_input(a.input, conversation_format());
  const Run quiet{.progress = {}, .cancel = session.run.cancel};
  const GeneratedText answer = conversation.say(one.items[0].text, quiet, show_piece);
  show_piece("\n");
  tell_ending(conversation, answer);
  return 0;
}

}  // namespace

Command chat_command() {
  return {"chat", "Use", "a conversation in the model's own chat template",
          "attune chat model --system \"Answer in one sentence.\" --message \"What is furosemide?\"\n"
          "  attune chat model.gguf --temperature 0.7       # a conversation: /help says what you can do in it",
          [](Arguments& arguments) -> Action {
            auto a = std::make_shared<ChatArguments>();
            arguments.positional("MODEL", a->model, "model directory or .gguf file with a chat template");
            declare_input(arguments, a->input);
            declare_output(arguments, a->output);
            arguments.option("--system", a->system, "what the model is told before the conversation");
            arguments.option("--tools", a->tools, "JSON file: a list of the functions that the model may call");
            arguments.option("--variables", a->variables,
                             "JSON object of further names for the template, {\"enable_thinking\": false}");
            arguments.option("--date", a->date, "YYYY-MM-DD, for templates that tell the date; else today");
            arguments.option("--chat-template", a->chat_template, "file of a template to take in the model's place");
            arguments.option("--max-tokens", a->options.max_tokens,
                             "tokens to write at most in an answer; else as the model's files say, or 1024",
                             {.at_least = 1});
            declare_sampling(arguments, a->options.sampling);
            declare_rules(arguments, a->options.rules);
            arguments.choice("--cache", a->cache, {"f32", "f16", "int8"},
                             "how keys and values of read tokens are kept: exactly, or in half or a quarter of the "
                             "memory");
            arguments.option("--stop", a->options.stop,
                             "a text before which an answer ends; may be given several times");
            return [a](const Session& session) { return run_chat(*a, session); };
          }};
}

}  // namespace attune
