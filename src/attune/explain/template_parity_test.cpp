#include "attune/explain/template_parity.h"

#include <gtest/gtest.h>

#include "attune/base/json_values.h"
#include "attune/text/tokenizer_trainer.h"

namespace attune::explain {
namespace {

Bundle with_template(const std::string& text, const std::string& end = "</s>") {
  Bundle bundle;
  bool given = false;
  bundle.tokenizer =
      train_tokenizer({.vocab_size = 270, .special_tokens = {"</s>", "<|user|>"}}, [&](std::string& line) {
        line = "the cat sat on the mat";
        return !std::exchange(given, true);
      });
  if (!text.empty()) bundle.chat.named = {{"default", "test", text}};
  bundle.chat.special_tokens = Json{{"eos_token", end}};
  return bundle;
}

const char* const usual = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}";

TEST(TemplateParity, WhatIsWrittenCountsAndNotHowTheTemplateIs) {
  const TemplateParity same = compare_templates(
      with_template(usual),
      with_template("{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + eos_token }}{% endfor %}"));
  EXPECT_TRUE(same.any);
  EXPECT_EQ(same.conversations, 5);
  EXPECT_EQ(same.other_texts, 0);
  EXPECT_EQ(same.other_ids, 0);
  const TemplateParity end = compare_templates(with_template(usual), with_template(usual, "<end>"));
  EXPECT_EQ(end.other_texts, 5);
  EXPECT_NE(end.first_other.find("<end>"), std::string::npos) << end.first_other;
}

TEST(TemplateParity, ARefusalAndAMissingTemplateAreDifferences) {
  const std::string picky =
      std::string("{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}") + usual;
  EXPECT_EQ(compare_templates(with_template(usual), with_template(picky)).other_texts, 2);
  const TemplateParity both = compare_templates(with_template(picky), with_template(picky));
  EXPECT_EQ(both.conversations, 3);
  EXPECT_EQ(both.other_texts, 0);
  EXPECT_EQ(compare_templates(with_template(usual), with_template("")).other_texts, 5);
  EXPECT_FALSE(compare_templates(with_template(""), with_template("")).any);
}

}  // namespace
}  // namespace attune::explain
