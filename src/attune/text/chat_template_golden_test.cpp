// jinja2, set up as transformers sets it up, and Attune agree on every golden in tests/golden/chat_templates (written
// by tools/golden/chat_templates.py): texts to the byte, and of faults the line and Jinja's words.
#include <gtest/gtest.h>

#include <cstdio>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/text/chat_template.h"
#include "attune/text/template/template.h"

namespace attune {
namespace {

Json golden(const std::string& name) {
  return read_json(Path(ATTUNE_GOLDEN_DIR) / "chat_templates" / (name + ".json"));
}

/// Where the generator's clock stands.
std::tm clock() {
  std::tm now{};
  now.tm_year = 124;
  now.tm_mon = 6;
  now.tm_mday = 26;
  now.tm_hour = 13;
  now.tm_min = 5;
  now.tm_sec = 9;
  now.tm_wday = 5;
  now.tm_yday = 207;
  return now;
}

template <class Render>
void expect_same(const Json& expected, Render&& render) {
  SCOPED_TRACE(expected["template"].get<std::string>());
  std::string text, error;
  try {
    text = render();
  } catch (const Error& fault) {
    error = fault.what();
  }
  if (expected.contains("text")) {
    EXPECT_EQ(error, "");
    EXPECT_EQ(text, expected["text"].get<std::string>());
    return;
  }
  int line = 0, end = 0;
  ASSERT_EQ(std::sscanf(error.c_str(), "T, line %d: %n", &line, &end), 1) << error;
  ASSERT_GT(end, 0) << error;
  if (expected.contains("lines")) {
    EXPECT_GE(line, expected["lines"][0].get<int>()) << error;
    EXPECT_LE(line, expected["lines"][1].get<int>()) << error;
  } else {
    EXPECT_EQ(line, expected["line"].get<int>()) << error;
  }
  if (expected.contains("error")) {
    EXPECT_EQ(error.substr(static_cast<std::size_t>(end)), expected["error"].get<std::string>());
  }
}

void expect_small(const std::string& name) {
  const Json all = golden(name);
  jinja::Variables variables{.now = clock()};
  for (const auto& [key, value] : all["variables"].items()) variables.values.emplace_back(key, value);
  for (const Json& one : all["cases"])
    expect_same(one, [&] { return jinja::Template::parse(one["template"].get<std::string>(), "T").render(variables); });
}

TEST(ChatTemplateGolden, ExpressionsGiveWhatPythonGives) { expect_small("expressions"); }
TEST(ChatTemplateGolden, StatementsGiveWhatJinjaGives) { expect_small("statements"); }
TEST(ChatTemplateGolden, FaultsNameTheLineInJinjasWords) { expect_small("errors"); }

TEST(ChatTemplateGolden, TemplatesOfPublishedFamiliesGiveWhatTransformersGives) {
  const Json all = golden("families");
  for (const Json& one : all["cases"]) {
    const Json& given = all["conversations"][one["conversation"].get<std::string>()];
    SCOPED_TRACE(one["conversation"].get<std::string>());
    expect_same(one, [&] {
      const auto text = all["templates"][one["template"].get<std::string>()].get<std::string>();
      Json variables = all["tokens"];
      if (given.contains("variables")) variables.update(given["variables"]);
      return ChatTemplate::parse(text, "T").render({.messages = given["messages"],
                                                    .tools = given.value("tools", Json()),
                                                    .documents = given.value("documents", Json()),
                                                    .add_generation_prompt = given["add_generation_prompt"].get<bool>(),
                                                    .variables = variables,
                                                    .now = clock()});
    });
  }
}

}  // namespace
}  // namespace attune
