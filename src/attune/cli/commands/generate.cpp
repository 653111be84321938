#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "attune/base/error.h"
#include "attune/cli/commands/commands.h"
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
  std::optional<double> temperature;
  std::string cache = "f32";
};

/// Piece by piece to a terminal, where there is one prompt: then no bar is drawn over it.
void stream(const Bundle& bundle, std::string_view prompt, const TextGeneration& options, const Session& session) {
  Run quiet{.progress = {}, .cancel = session.run.cancel};
  generate_texts(bundle, std::span(&prompt, 1), options, quiet, [](std::size_t, std::string_view piece) {
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
  });
  std::fputc('\n', stdout);
}

Json result_of(const GeneratedText& one) {
  return {{"text", one.text},
          {"finish_reason", name_of(one.reason)},
          {"tokens", one.tokens},
          {"generated_tokens", one.generated_tokens}};
}

int run_generate(const GenerateArguments& a, const Session& session) {
  Documents documents = read_input(a.input, {.empty_text = true});
  Output out(a.output);
  TextGeneration options = a.options;
  options.seed = session.seed;
  options.cache = cache_format(a.cache);
  // Asking for top-k or top-p is asking for sampling.
  bool narrowed = options.sampling.top_k > 0 || options.sampling.top_p < 1;
  options.sampling.temperature = a.temperature.value_or(narrowed ? 1 : 0);
  Bundle bundle = load_bundle(a.model);
  std::vector<std::string_view> prompts = texts_of(documents);
  if (prompts.size() == 1 && !a.output.json && !a.output.file && isatty(STDOUT_FILENO)) {
    stream(bundle, prompts[0], options, session);
    return 0;
  }
  std::vector<GeneratedText> texts = generate_texts(bundle, prompts, options, session.run);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (a.output.json)
      out.record(documents.items[i], result_of(texts[i]));
    else
      out.line(texts.size() == 1 ? texts[i].text : fmt::format("{}: {}", documents.items[i].id, texts[i].text));
  }
  out.finish();
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
        arguments.option("--max-tokens", a->options.max_tokens, "tokens to write at most");
        arguments.option("--temperature", a->temperature,
                         "above 0: sample, logits divided by it; 0, and without it: the most probable token");
        arguments.option("--top-k", a->options.sampling.top_k, "sample among the k most probable tokens; 0: all");
        arguments.option("--top-p", a->options.sampling.top_p,
                         "sample among the fewest tokens whose probabilities reach p");
        arguments.option("--num-beams", a->options.beams, "above 1: beam search instead of sampling");
        arguments.choice("--cache", a->cache, {"f32", "f16", "int8"},
                         "how keys and values of read tokens are kept: exactly, or in half or a quarter of the memory");
        arguments.option("--stop", a->options.stop, "a text before which the result ends; may be given several times");
        return [a](const Session& session) { return run_generate(*a, session); };
      }};
}

}  // namespace attune
