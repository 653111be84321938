#include "attune/text/chat_template.h"

#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/text/template/template.h"

namespace attune {
namespace {

std::string fault_of(const std::string& text, const jinja::Limits& limits = {}) {
  try {
    jinja::Template::parse(text, "T").render({.limits = limits});
  } catch (const Error& error) {
    return error.what();
  }
  return "no fault";
}

const jinja::Limits small{.depth = 300, .steps = 100'000, .bytes = 1'000'000, .output = 10'000};

TEST(ChatTemplate, HostileTemplatesEndWithAnError) {
  const char* templates[] = {
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{{ 'x' * 999999999999 }}",
      "{{ [1] * 999999999999 }}",
      "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}",
      "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ "
      "g() }}",
      "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
      "{% set ns = namespace(g=[1]) %}{% for i in range(9999) %}{% set ns.g = ns.g | map('string') %}{% endfor %}{{ "
      "ns.g | list }}",
      "{{ 'a' | center(99999999999) }}",
      "{{ '%999999999999d' % 1 }}",
      "{{ '{:999999999999}'.format(1) }}",
      "{{ ('a' * 9999).replace('', 'b' * 9999) }}",
      "{{ 'a\\nb' | indent(99999999999) }}",
      "{{ [[]] | tojson(indent=99999999999) }}",
      "{{ 2 ** 999999999 }}",
      "{{ range(99999999999999999999999999) }}",
      "{{ 'x' * 20000 }}",
      "{{ [1] | batch(99999999999, 0) | list }}",
      "{{ strftime_now('%d') }}",
      "{{ 'ab'.zfill(99999999999) }}{{ 'a\tb'.expandtabs(99999999999) }}",
  };
  for (const char* text : templates) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(fault_of(text, small).starts_with("T, line 1: ")) << fault_of(text, small);
  }
}

TEST(ChatTemplate, DeepTemplatesAreRefusedNotCrashedOn) {
  const auto repeated = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  for (const std::string& text :
       {"{{ " + repeated("(", 100000) + " }}", "{{ " + repeated("[", 100000), "{{ " + repeated("-", 100000) + "1 }}",
        "{{ " + repeated("not ", 100000) + "1 }}", "{{ 1" + repeated("+1", 100000) + " }}",
        "{{ a" + repeated(".b", 100000) + " }}", "{{ a" + repeated("|list", 100000) + " }}",
        "{{ a" + repeated("()", 100000) + " }}", "{{ 1" + repeated(" if 1 else 1", 100000) + " }}",
        "{{ 1" + repeated(" if 1", 100000) + " }}", repeated("{% if 1 %}", 100000),
        repeated("{% for x in y %}", 100000), "{{ " + repeated("{1:", 100000), "{{ f(" + repeated("f(", 100000),
        "{{ a" + repeated("[0]", 100000) + " }}", "{% set " + repeated("(", 100000),
        "{{ 1" + repeated(" is odd(1)", 100000) + " }}"}) {
    SCOPED_TRACE(text.substr(0, 20));
    EXPECT_TRUE(fault_of(text).starts_with("T, line 1: ")) << fault_of(text).substr(0, 200);
  }
}

TEST(ChatTemplate, ValuesMayHoldThemselvesAndAreFreed) {  // the address sanitizer sees what is not
  EXPECT_EQ(
      fault_of("{% set ns = namespace() %}{% set ns.me = [ns] %}{% macro f() %}{% endmacro %}{% set ns.f = f %}"
               "{% for i in range(5000) %}{% set p = ns.c %}{% macro g() %}{{ p }}{% endmacro %}{% set ns.c = g %}"
               "{% endfor %}{% for x in [1] if ns %}{% set ns.l = loop %}{{ loop.changed(loop) }}{% endfor %}"),
      "no fault");
  EXPECT_EQ(fault_of("{% set ns = namespace(n=none) %}{% for i in range(20000) %}{% set ns.n = namespace(n=ns.n) %}"
                     "{% endfor %}"),
            "no fault");
}

TEST(ChatTemplate, UnsupportedTagsSayThatTheyAre) {
  EXPECT_EQ(fault_of("\n{% include 'x' %}"),
            "T, line 2: the tag 'include' is not supported: a chat template is one file of plain text");
  EXPECT_EQ(fault_of("{% break %}"), "T, line 1: 'break' outside of a loop");
}

TEST(ChatTemplate, WithoutATimeThereIsNoClock) {
  ChatTemplate chat = ChatTemplate::parse("{{ strftime_now is defined }}", "T");
  const Json messages = Json::parse(R"([{"role": "user", "content": "a"}])");
  EXPECT_EQ(chat.render({.messages = messages}), "False");
  EXPECT_EQ(chat.render({.messages = messages, .now = std::tm{}}), "True");
}

TEST(ChatTemplate, ConversationsThatAreNoneAreRefused) {
  ChatTemplate chat = ChatTemplate::parse("{{ messages }}", "T");
  EXPECT_THROW(chat.render({.messages = Json::array()}), Error);
  EXPECT_THROW(chat.render({.messages = Json("text")}), Error);
  EXPECT_THROW(chat.render({.messages = Json::array({1})}), Error);
  EXPECT_THROW(chat.render({.messages = Json::array({{{"role", "user"}}}), .tools = Json::array({"f"})}), Error);
}

class ChatDirectory : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = Path(testing::TempDir()) /
                 ("chat_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(directory_);
    make_directories(directory_ / "additional_chat_templates");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const char* name, const std::string& text) { write_file_atomically(directory_ / name, text); }
  std::string said(bool tools = false) const {
    return ChatTemplate::open(directory_)
        .render({.messages = Json::parse(R"([{"role": "user", "content": "a"}])"),
                 .tools = tools ? Json::parse(R"([{"name": "f"}])") : Json()});
  }

  Path directory_;
};

TEST_F(ChatDirectory, WithoutATemplateTheErrorSaysSo) {
  EXPECT_TRUE(ChatTexts::read(directory_).named.empty());
  try {
    ChatTemplate::open(directory_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the model has no chat template"), std::string::npos) << error.what();
  }
}

TEST_F(ChatDirectory, TokensAreStringsOrObjects) {
  write("tokenizer_config.json",
        R"({"chat_template": "{{ bos_token }}|{{ eos_token }}|{{ pad_token }}", "bos_token": "<s>",
         "eos_token": {"content": "</s>", "lstrip": false}})");
  write("special_tokens_map.json", R"({"bos_token": "other", "pad_token": {"content": "<pad>"}})");
  EXPECT_FALSE(ChatTexts::read(directory_).named.empty());
  EXPECT_EQ(said(), "<s>|</s>|<pad>");
}

TEST_F(ChatDirectory, OfNamedTemplatesToolsHaveTheirOwn) {
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]})");
  EXPECT_EQ(said(), "d");
  EXPECT_EQ(said(true), "t");
  write("tokenizer_config.json", R"({"chat_template": {"default": "d2", "tool_use": "t2"}})");
  EXPECT_EQ(said(), "d2");
  EXPECT_EQ(said(true), "t2");
  write("chat_template.jinja", "own file\n");  // from here on tokenizer_config.json's do not count
  EXPECT_EQ(said(), "own file");
  EXPECT_EQ(said(true), "own file");
  write("additional_chat_templates/tool_use.jinja", "own tools");
  EXPECT_EQ(said(), "own file");
  EXPECT_EQ(said(true), "own tools");
}

TEST_F(ChatDirectory, AFaultNamesTheFileAndItsLine) {
  write("chat_template.jinja", "a\n{{ raise_exception('no system here') }}");
  try {
    said();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), (directory_ / "chat_template.jinja").string() + ", line 2: no system here");
  }
}

}  // namespace
}  // namespace attune
