#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "attune/base/json_values.h"
#include "attune/bundle/bundle.h"
#include "attune/bundle/sentence_embedding.h"
#include "attune/checkpoint/gguf.h"
#include "attune/cli/commands/commands.h"
#include "attune/report/text.h"

namespace attune {

namespace {

/// How many tensors of a GGUF file have each type: "Q4_1 (210), F32 (61)", the most frequent first.
std::string types_of(const GgufFile& file) {
  std::map<std::string, int> counts;
  for (const GgufTensorInfo& one : file.tensors()) ++counts[one.type_name()];
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [name, count] : counts) sorted.push_back({-count, name});
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (const auto& [count, name] : sorted) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, -count);
  return text;
}

/// What the weights take as the model holds them, and what of it is packed once more where it is multiplied by.
std::string memory_of(const ParameterSet& parameters) {
  double blocks = 0, int8 = 0, numbers = 0;
  for (const Parameter& p : parameters.all()) {
    if (p.blocks)
      blocks += static_cast<double>(p.blocks->byte_count());
    else if (p.int8)
      int8 += static_cast<double>(p.int8->bytes());
    else
      numbers += 4.0 * static_cast<double>(p.shape().numel());
  }
  return fmt::format("about {:.0f} MB of weights{}{}{}", (blocks + int8 + numbers) / 1e6,
                     blocks > 0 ? fmt::format(", {:.0f} of them mapped blocks", blocks / 1e6) : "",
                     int8 > 0 ? fmt::format(", {:.0f} of them in int8", int8 / 1e6) : "",
                     numbers > blocks + int8 ? ", and as much again where they are packed" : "");
}

/// The bound of the model's positions; where they have none, the length that its config says it was made for.
std::string longest_of(const Bundle& bundle) {
  if (const auto longest = bundle.model->facts().longest) return std::to_string(*longest) + " tokens";
  std::string text = "no bound but memory";
  for (const char* key : {"max_position_embeddings", "n_positions", "max_seq_len", "seq_length"})
    if (bundle.config->contains(key) && (*bundle.config)[key].is_number_integer())
      return text + fmt::format("; made for {} tokens ({})", (*bundle.config)[key].get<std::int64_t>(), key);
  return text;
}

/// What a sentence-transformers directory makes of a text.
std::string embeddings_of(const Bundle& bundle, const SentenceEmbedding& embedding) {
  std::string text = fmt::format("{} numbers,", embedding.width(bundle.model->facts().hidden_size));
  for (SentencePooling pooling : embedding.pooling) text += " " + name_of(pooling);
  if (embedding.normalize) text += ", of length 1";
  if (embedding.longest) text += fmt::format("; of texts up to {} tokens", *embedding.longest);
  return text;
}

int run_info(const std::string& model) {
  Bundle bundle = load_bundle(model);
  const ModelFacts& facts = bundle.model->facts();
  const ParameterSet& parameters = bundle.model->parameters();
  auto line = [](const char* what, const std::string& value) { fmt::print("{:<16} {}\n", what, value); };
  line("architecture",
       facts.model_type + (facts.head == HeadKind::none ? "" : ", " + class_name(facts.model_type, facts.head)));
  line("parameters", fmt::format("{} in {} tensors", parameters.count(), parameters.all().size()));
  line("sizes", fmt::format("{} layers of {}, vocabulary {}", facts.layers, facts.hidden_size, facts.vocab_size));
  line("longest input", longest_of(bundle));
  LongPolicy long_policy = bundle.contract.long_policy;
  if (std::filesystem::exists(bundle.path / "modules.json")) {
    SentenceEmbedding embedding = SentenceEmbedding::read(bundle.path);
    if (facts.longest && embedding.longest) embedding.longest = std::min(*facts.longest, *embedding.longest);
    if (embedding.longest) long_policy.longest = *embedding.longest;
    line("embeddings", embeddings_of(bundle, embedding));
  }
  line("memory to run", memory_of(parameters));
  if (const auto& checkpoint = parameters.source().checkpoint; checkpoint && checkpoint->gguf())
    line("types", types_of(*checkpoint->gguf()));
  line("tokenizer", bundle.tokenizer ? std::to_string(bundle.tokenizer->size()) + " tokens" : "none");
  if (const std::string* chat = bundle.chat.find("default"))
    line("chat template", fmt::format("{} bytes of Jinja: attune chat talks with it", chat->size()));
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
  line("long inputs", name_of(long_policy.kind) +
                          (long_policy.longest > 0 ? fmt::format(" beyond {} tokens", long_policy.longest) : ""));
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
            arguments.positional("MODEL", *model, "model directory or .gguf file");
            return [model](const Session&) { return run_info(*model); };
          }};
}

}  // namespace attune
