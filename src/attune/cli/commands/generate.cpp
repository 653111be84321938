#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/decoding_arguments.h"
#include "attune/cli/input_output.h"
#include "attune/tasks/classify.h"
#include "attune/tasks/generate.h"

namespace attune {

namespace {

struct GenerateArguments {
  std::string model;
  InputArguments input{.text_option = "--prompt", .text = {}, .file = {}};
  OutputArguments output;
  TextGeneration options;
  std::string cache = "f32";
};

/// Piece by piece to a terminal, where there is one prompt: then no bar is drawn over it.
std::vector<GeneratedText> stream(const Bundle& bundle, std::string_view prompt, const TextGeneration& options,
                                  const Session& session) {
  Run quiet{.progress = {}, .cancel = session.run.cancel};
  std::vector<GeneratedText> texts =
      generate_texts(bundle, std::span(&prompt, 1), options, quiet, [](std::size_t, std::string_view piece) {
        std::fwrite(piece.data(), 1, piece.size(), stdout);
        std::fflush(stdout);
      });
  std::fputc('\n', stdout);
  std::fflush(stdout);
  return texts;
}

Json result_of(const GeneratedText& one) {
  Json result = {{"text", one.text},
                 {"finish_reason", name_of(one.reason)},
                 {"tokens", one.tokens},
                 {"generated_tokens", one.generated_tokens}};
  if (one.score) result["score"] = *one.score;
  for (const GeneratedText& other : one.others) result["others"].push_back(result_of(other));
  return result;
}

/// A text, and the next best ones below it.
void show(Output& out, const std::string& before, const GeneratedText& one) {
  out.line(before + one.text);
  for (const GeneratedText& other : one.others) out.line(before + other.text);
}

int run_generate(const GenerateArguments& a, const Session& session) {
  check_decoding(a.options, session);
  Documents documents = read_input(a.input, {.empty_text = true});
  Output out(a.output);
  TextGeneration options = a.options;
  options.seed = session.seed;
  options.cache = cache_format(a.cache);
  Bundle bundle = load_bundle(a.model);
  tell_idle_seed(bundle, options, session);
  std::vector<std::string_view> prompts = texts_of(documents);
  const bool alone = prompts.size() == 1 && options.beam_search.results == 1;
  if (alone && !a.output.json && !a.output.file && isatty(STDOUT_FILENO)) {
    tell_unfinished(bundle, documents.items, stream(bundle, prompts[0], options, session));
    return 0;
  }
  std::vector<GeneratedText> texts = generate_texts(bundle, prompts, options, session.run);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (a.output.json)
      out.record(documents.items[i], result_of(texts[i]));
    else
      show(out, texts.size() == 1 ? "" : documents.items[i].id + ": ", texts[i]);
  }
  out.finish();
  if (!a.output.json) tell_unfinished(bundle, documents.items, texts);
  return 0;
}

}  // namespace

Command generate_command() {
  return {
      "generate", "Use", "continues prompts with a causal language model",
      "attune generate run/model --prompt \"Once upon a time\" --max-tokens 100 --temperature 0.8 --top-p 0.95",
      [](Arguments& arguments) -> Action {
        auto a = std::make_shared<GenerateArguments>();
        arguments.positional("MODEL", a->model, "model directory");
        declare_input(arguments, a->input);
        declare_output(arguments, a->output);
        arguments.option("--max-tokens", a->options.max_tokens,
                         "tokens to write at most; else as the model's files say, or 256", {.at_least = 1});
        declare_sampling(arguments, a->options.sampling);
        declare_rules(arguments, a->options.rules);
        arguments.option("--num-beams", a->options.beams, "above 1: beam search instead of sampling",
                         {.at_least = 1, .at_most = most_beams});
        declare_beam_search(arguments, a->options.beam_search);
        arguments.choice("--cache", a->cache, {"f32", "f16", "int8"},
                         "how keys and values of read tokens are kept: exactly, or in half or a quarter of the memory");
        arguments.option("--stop", a->options.stop, "a text before which the result ends; may be given several times");
        return [a](const Session& session) { return run_generate(*a, session); };
      }};
}

}  // namespace attune
