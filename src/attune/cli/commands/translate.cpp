#include "attune/tasks/translate.h"

#include <fmt/core.h>

#include <limits>
#include "attune/base/json_values.h"

#include "attune/base/log.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/decoding_arguments.h"
#include "attune/cli/input_output.h"
#include "attune/tasks/classify.h"

namespace attune {

namespace {

struct TranslateArguments {
  std::string model;
  InputArguments input;
  OutputArguments output;
  TranslationOptions options;
};

Json result_of(const Translation& one) {
  Json alignment = Json::array();
  for (auto [source, target] : one.alignment) alignment.push_back({source, target});
  Json result = {{"text", one.text},       {"score", one.score},
                 {"alignment", alignment}, {"finish_reason", name_of(one.reason)},
                 {"tokens", one.tokens},   {"generated_tokens", one.generated_tokens}};
  for (const Translation& other : one.others) result["others"].push_back(result_of(other));
  return result;
}

void show(Output& out, const Translation& one) {
  out.line(one.text);
  for (const Translation& other : one.others) out.line(other.text);
}

int run_translate(const TranslateArguments& a, const Session& session) {
  check_length(a.options.rules, a.options.max_tokens);
  check_beams(a.options.beam_search, a.options.beams);
  Documents documents = read_input(a.input);
  Output out(a.output);
  Bundle bundle = load_bundle(a.model);
  // The first of a model's positions is the start token's.
  const std::int64_t bound = bundle.model->facts().longest.value_or(std::numeric_limits<std::int64_t>::max()) - 1;
  std::vector<Translation> translations = translate(bundle, texts_of(documents), a.options, session.run);
  for (std::size_t i = 0; i < translations.size(); ++i) {
    const Translation& one = translations[i];
    if (a.output.json)
      out.record(documents.items[i], result_of(one));
    else
      show(out, one);
    if (one.reason == FinishReason::length)
      log_warning(fmt::format(
          "{}: the translation ends after {} tokens, unfinished: {}", documents.items[i].id, one.generated_tokens,
          one.generated_tokens < bound ? "--max-tokens sets how many" : "this model writes no more: divide the text"));
  }
  out.finish();
  return 0;
}

}  // namespace

Command translate_command() {
  return {
      "translate", "Use", "turns texts into others with an encoder-decoder, a line for each",
      "attune translate run/model --text \"Ein Hund rennt durch den Schnee.\"", [](Arguments& arguments) -> Action {
        auto a = std::make_shared<TranslateArguments>();
        arguments.positional("MODEL", a->model, "model directory");
        declare_input(arguments, a->input);
        declare_output(arguments, a->output);
        arguments.option("--num-beams", a->options.beams, "beams to search with; else as the model's files say, or 4",
                         {.at_least = 1, .at_most = most_beams});
        declare_beam_search(arguments, a->options.beam_search);
        declare_rules(arguments, a->options.rules);
        arguments.option("--max-tokens", a->options.max_tokens,
                         "tokens to write at most; else as the model's files say, or 512", {.at_least = 1});
        arguments.option("--source-lang", a->options.source_language,
                         "of a multilingual model: the texts' language (ro_RO, fra_Latn, fr); else its tokenizer's");
        arguments.option("--target-lang", a->options.target_language,
                         "of a multilingual model: the language to write; else as the model's files say");
        return [a](const Session& session) { return run_translate(*a, session); };
      }};
}

}  // namespace attune
