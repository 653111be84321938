// Conversations with a model of random weights: what it answers means nothing, what it is given does.
#include "attune/tasks/chat.h"

#include <gtest/gtest.h>

#include <atomic>

#include "attune/base/error.h"
#include "attune/base/json_values.h"
#include "attune/text/tokenizer_trainer.h"
#include "attune/text/utf8.h"

namespace attune {
namespace {

const char* const chat_template =
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}</s>{% endfor %}"
    "{% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

Bundle talker() {
  TokenizerTraining training{.vocab_size = 310,
                             .special_tokens = {"<pad>", "</s>", "<end>", "<|user|>", "<|assistant|>", "<|system|>"}};
  std::vector<std::string> texts = {"the cat sat on the mat, the rat sat on the cat", "größer, größer"};
  std::size_t next = 0;
  Bundle bundle;
  bundle.tokenizer = train_tokenizer(training, [&](std::string& text) {
    if (next == texts.size()) return false;
    text = texts[next++];
    return true;
  });
  const Json config = {{"model_type", "llama"},    {"architectures", {"LlamaForCausalLM"}},
                       {"hidden_size", 16},        {"intermediate_size", 24},
                       {"num_hidden_layers", 2},   {"num_attention_heads", 2},
                       {"initializer_range", 0.5}, {"vocab_size", bundle.tokenizer->limit()},
                       {"eos_token_id", 1},        {"pad_token_id", 0}};
  bundle.config = config;
  bundle.model = build_model(config, "test", {.checkpoint = nullptr, .initial = RandomKey{.seed = 3}});
  bundle.chat = {
      .model = "test", .named = {{"default", "test", chat_template}}, .special_tokens = Json{{"eos_token", "<end>"}}};
  return bundle;
}

const std::vector<std::string> lines = {"the cat sat on the mat, größer than the rat, the rat sat on the mat",
                                        "on the cat? the rat!", "größer"};

AskedConversation asked(const Json& messages) { return {{.messages = messages}, "line 1"}; }

TEST(Conversation, ATurnIsAnsweredAsTheWholeConversation) {
  const Bundle bundle = talker();
  const ChatTemplate chat = ChatTemplate::of(bundle.chat);
  for (double temperature : {0.0, 1.0})
    for (CacheFormat cache : {CacheFormat::f32, CacheFormat::f16, CacheFormat::int8}) {
      const TextGeneration options{
          .max_tokens = 40, .sampling = {.temperature = temperature}, .seed = 7, .cache = cache};
      const Json system = Json{{"role", "system"}, {"content", "the cat sat on the mat, the rat sat on the cat."}};
      Conversation conversation(bundle, chat, {.messages = Json::array({system})}, options);
      Json messages = Json::array({system});
      for (std::size_t turn = 0; turn < lines.size(); ++turn) {
        messages.push_back(Json{{"role", "user"}, {"content", lines[turn]}});
        const AskedConversation whole = asked(messages);
        const GeneratedText expected = answer_conversations(bundle, chat, std::span(&whole, 1), options, {})[0];
        std::string told;
        const GeneratedText answer = conversation.say(lines[turn], {}, [&](std::string_view piece) {
          EXPECT_FALSE(find_invalid_utf8(piece).has_value());
          told += piece;
        });
        EXPECT_EQ(answer.text, expected.text);
        EXPECT_EQ(answer.tokens, expected.tokens);
        EXPECT_EQ(answer.generated_tokens, expected.generated_tokens);
        EXPECT_EQ(told, answer.text);
        messages.push_back(Json{{"role", "assistant"}, {"content", answer.text}});
        EXPECT_EQ(conversation.messages(), messages);
        if (turn > 1) {  // a page of 64 tokens and more
          EXPECT_GE(conversation.tokens_shared(), 64);
        }
      }
      conversation.restart();
      EXPECT_EQ(conversation.messages(), Json::array({system}));
    }
}

TEST(Conversation, WhenItIsFullTheErrorHasBothNumbersAndNothingIsCut) {
  Bundle bundle = talker();
  const ChatTemplate chat = ChatTemplate::of(bundle.chat);
  const std::string text = chat.render(asked(Json::array({Json{{"role", "user"}, {"content", lines[0]}}})).input);
  const auto tokens = static_cast<std::int64_t>(bundle.text().encode(text, {.add_special_tokens = false}).size());
  bundle.contract.long_policy.longest = tokens + 4;
  Conversation conversation(bundle, chat, {}, {});
  const GeneratedText answer = conversation.say(lines[0], {});
  EXPECT_EQ(answer.tokens, tokens);
  EXPECT_LE(answer.generated_tokens, 4);
  const Json before = conversation.messages();
  EXPECT_EQ(before.size(), 2u);
  try {
    conversation.say(lines[1], {});
    FAIL() << "a conversation without room was taken";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(fmt::format("the model takes {}", tokens + 4)), std::string::npos) << message;
    EXPECT_NE(message.find("the conversation has "), std::string::npos) << message;
  }
  EXPECT_EQ(conversation.messages(), before);
  conversation.restart();
  EXPECT_EQ(conversation.say(lines[0], {}).text, answer.text);
}

TEST(Conversation, WhatWasWrittenBeforeAStopStays) {
  const Bundle bundle = talker();
  Conversation conversation(bundle, ChatTemplate::of(bundle.chat), {},
                            {.max_tokens = 200, .sampling = {.temperature = 1}, .rules = {.min_tokens = 200}});
  std::atomic<bool> cancel = false;
  const attune::Run run{.progress = {}, .cancel = &cancel};
  std::string told;
  EXPECT_THROW(conversation.say(lines[0], run,
                                [&](std::string_view piece) {
                                  told += piece;
                                  cancel = told.size() > 20;
                                }),
               Cancelled);
  ASSERT_EQ(conversation.messages().size(), 2u);
  EXPECT_EQ(conversation.messages()[1]["content"], told);
  // Stopped before anything was written: as if it had not been said.
  EXPECT_THROW(conversation.say(lines[1], run), Cancelled);
  EXPECT_EQ(conversation.messages().size(), 2u);
}

TEST(Conversation, AnAnswerEndsAtTheTokenizersEndTokenToo) {
  Bundle bundle = talker();
  const AskedConversation one = asked(Json::array({Json{{"role", "user"}, {"content", lines[0]}}}));
  const Encoding prompt =
      bundle.text().encode(ChatTemplate::of(bundle.chat).render(one.input), {.add_special_tokens = false});
  const auto written = generate(*bundle.model, {{prompt.ids.begin(), prompt.ids.end()}}, {.max_tokens = 1}, {})[0].ids;
  ASSERT_NE(written[0], 1);
  // What the model writes first is now the end of an answer.
  const Json first = Json{{"eos_token", *bundle.text().token_of(static_cast<std::int32_t>(written[0]))}};
  bundle.chat.special_tokens = first;
  Conversation ends(bundle, ChatTemplate::of(bundle.chat), {}, {.max_tokens = 30});
  const GeneratedText answer = ends.say(lines[0], {});
  EXPECT_EQ(answer.reason, FinishReason::stop);
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(answer.generated_tokens, 1);
}

TEST(Conversation, ALineIsReadOverWhatAllHaveInCommon) {
  const DocumentFormat format = conversation_format();
  const Json function = Json{{"type", "function"}, {"function", {{"name", "f"}}}};
  const Json system = Json{{"role", "system"}, {"content", "s"}};
  const ChatInput common{.messages = Json::array({system}), .tools = Json::array({function})};
  const auto read = [&](const char* line) { return conversation_of(parse_document(line, 4, format), common); };
  const ChatInput one = read(R"({"id": 1e5, "messages": [{"role": "user", "content": " a  b "}]})").input;
  EXPECT_EQ(one.messages->size(), 2u);
  EXPECT_EQ((*one.messages)[0], system);
  EXPECT_EQ((*one.messages)[1]["content"], " a  b ");
  EXPECT_EQ(one.tools->size(), 1u);
  const ChatInput own =
      read(R"({"messages": [{"role": "system", "content": "own"}], "tools": [], "variables": {"x": 1}})").input;
  EXPECT_EQ(own.messages->size(), 1u);
  EXPECT_EQ(own.tools->size(), 0u);
  EXPECT_EQ((*own.variables)["x"], 1);
  EXPECT_EQ((*read(R"({"messages": "hello"})").input.messages)[1]["content"], "hello");
  for (const char* wrong : {R"({"messages": []})", R"({"messages": {"role": "user"}})"}) {
    try {
      read(wrong);
      FAIL() << wrong;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("\"messages\" must be a list"), std::string::npos) << error.what();
    }
  }
  const std::pair<const char*, const char*> faults[] = {
      {R"({"messages": "a", "tool": []})", R"("tool" is no member of a conversation, did you mean "tools"?)"},
      {R"({"messages": "a", "tools": [{"name": "f"}]})", R"([{"type": "function", "function": {"name")"},
      {R"({"messages": "a", "documents": ["text"]})", "documents are a list of objects"},
      {R"({"messages": "a", "variables": {"tools": []}})", R"(variables have the name "tools")"},
      {R"({"messages": "a", "variables": {"add_generation_prompt": false}})", "add_generation_prompt"}};
  for (const auto& [line, what] : faults) {
    try {
      read(line);
      FAIL() << line;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  }
  DocumentFormat other = format;
  other.text_field = "turns";
  const Document turns = parse_document(R"({"turns": [{"role": "user", "content": "a"}]})", 1, other);
  EXPECT_EQ((*conversation_of(turns, {}, "turns").input.messages)[0]["content"], "a");
  EXPECT_THROW(read(R"({"messages": 5})"), Error);
  EXPECT_THROW(read(R"({"prompt": "a"})"), Error);
}

TEST(Conversation, WhatTheTemplateHasNoPlaceForIsRefused) {
  const Bundle bundle = talker();
  const ChatTemplate chat = ChatTemplate::of(bundle.chat);
  ChatInput input = asked(Json::array({Json{{"role", "user"}, {"content", "a"}}})).input;
  input.documents = Json::array();
  EXPECT_NO_THROW(check_conversation(bundle, chat, input));
  input.tools = Json::array({Json{{"type", "function"}, {"function", {{"name", "f"}}}}});
  EXPECT_NO_THROW(check_conversation(bundle, chat, input));
  const ChatTemplate other = ChatTemplate::parse("{{ messages[0].content }}{{ xtools }}{{ tools_ }}", "other");
  EXPECT_THROW(check_conversation(bundle, other, input), Error);
  input.messages = Json::array();
  EXPECT_THROW(Conversation(bundle, other, input, {}), Error);
  input.tools = {};
  input.documents = Json::array({Json{{"text", "t"}}});
  EXPECT_THROW(Conversation(bundle, chat, input, {}), Error);
}

TEST(Conversation, PartsForATemplateThatTakesTextsSayWhatToDo) {
  const Bundle bundle = talker();
  const ChatTemplate chat = ChatTemplate::parse("{{ 'user: ' + messages[0].content }}", "plain");
  const Json part = Json{{"type", "text"}, {"text", "a"}};
  const Json message = Json{{"role", "user"}, {"content", Json::array({part})}};
  try {
    check_conversation(bundle, chat, asked(Json::array({message})).input);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("write \"content\" as one text"), std::string::npos) << error.what();
  }
}

TEST(Conversation, AModelWithoutATemplateSaysSo) {
  Bundle bundle = talker();
  bundle.chat.named.clear();
  try {
    ChatTemplate::of(bundle.chat);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("attune generate"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace attune
