#include <fmt/core.h>

#include "attune/base/error.h"
#include "attune/base/stop.h"
#include "attune/bundle/bundle.h"
#include "attune/cli/commands/commands.h"
#include "attune/data/example_file.h"
#include "attune/models/forward.h"

namespace attune {

namespace {

struct ForwardArguments {
  std::string model, input, output;
  ForwardOptions options;
};

int run_forward(const ForwardArguments& a, const Session& session) {
  const StopWithin stop(session.run);
  std::vector<std::int64_t> lines;
  std::vector<Example> examples = read_examples(a.input, &lines);
  Bundle bundle = load_bundle(a.model, {.trainable = a.options.gradients, .head = {}, .dropout = {}, .labels = {}});
  for (std::size_t i = 0; i < examples.size(); ++i)
    within(fmt::format("{}: line {}", a.input, lines[i]), [&] { check_example(bundle.model->facts(), examples[i]); });
  std::vector<NamedTensor> tensors = forward_examples(*bundle.model, examples, a.options);
  write_safetensors(a.output, tensors);
  fmt::print("{} tensors of {} lines in {}\n", tensors.size(), examples.size(), a.output);
  return 0;
}

}  // namespace

Command forward_command() {
  return {"forward", "Look inside", "the model as a function of ids: logits, hidden states, attentions, gradients",
          "attune forward run/model --input ids.jsonl --output out.safetensors --hidden-states",
          [](Arguments& arguments) -> Action {
            auto a = std::make_shared<ForwardArguments>();
            arguments.positional("MODEL", a->model, "model directory or .gguf file");
            arguments.required(
                "--input", a->input,
                "JSON lines {\"ids\":[..], \"token_type_ids\":[..], \"decoder_ids\":[..], \"labels\":[..]}");
            arguments.required("--output", a->output, "safetensors file to write");
            arguments.flag("--hidden-states", a->options.hidden_states, "every layer's output");
            arguments.flag("--attentions", a->options.attentions, "every layer's attention weights");
            arguments.flag("--gradients", a->options.gradients,
                           "of the mean loss over all labelled positions, for every weight");
            return [a](const Session& session) { return run_forward(*a, session); };
          }};
}

}  // namespace attune
