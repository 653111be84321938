#include <fmt/core.h>

#include "attune/bundle/bundle.h"
#include "attune/cli/commands/commands.h"
#include "attune/report/text.h"

namespace attune {

namespace {

int run_info(const std::string& model) {
  Bundle bundle = load_bundle(model);
  const ModelFacts& facts = bundle.model->facts();
  const ParameterSet& parameters = bundle.model->parameters();
  auto line = [](const char* what, const std::string& value) { fmt::print("{:<16} {}\n", what, value); };
  line("architecture",
       facts.model_type + (facts.head == HeadKind::none ? "" : ", " + class_name(facts.model_type, facts.head)));
  line("parameters", fmt::format("{} in {} tensors", parameters.count(), parameters.all().size()));
  line("sizes", fmt::format("{} layers of {}, vocabulary {}", facts.layers, facts.hidden_size, facts.vocab_size));
  line("longest input", facts.longest ? std::to_string(*facts.longest) + " tokens" : "no bound but memory");
  line("memory to run", fmt::format("about {:.0f} MB of weights, and as much again where they are packed",
                                    static_cast<double>(parameters.count()) * 4 / 1e6));
  line("tokenizer", bundle.tokenizer ? std::to_string(bundle.tokenizer->size()) + " tokens" : "none");
  if (!parameters.unused().empty()) {
    std::string names;
    for (const std::string& name : parameters.unused()) names += " " + name;
    line("unused tensors", names.substr(1));
  }
  const Contract& contract = bundle.contract;
  if (!contract.task.empty()) line("task", contract.task);
  std::string labels;
  for (const std::string& label : contract.labels) labels += (labels.empty() ? "" : ", ") + report::on_one_line(label);
  if (!labels.empty()) line("labels", labels);
  line("long inputs",
       name_of(contract.long_policy.kind) +
           (contract.long_policy.longest > 0 ? fmt::format(" beyond {} tokens", contract.long_policy.longest) : ""));
  if (contract.calibration) {
    line("temperature", fmt::format("{:.3f}", contract.calibration->temperature));
    line("automatic part", contract.calibration->route.statement);
  }
  for (const DataSource& source : contract.data)
    line("learned from",
         fmt::format("{} ({}, {} documents, sha256 {})", source.file, source.part, source.documents, source.sha256));
  return 0;
}

}  // namespace

Command info_command() {
  return {"info", "Look inside", "what a model is, what it needs, and its contract", "attune info run/model",
          [](Arguments& arguments) -> Action {
            auto model = std::make_shared<std::string>();
            arguments.positional("MODEL", *model, "model directory");
            return [model](const Session&) { return run_info(*model); };
          }};
}

}  // namespace attune
