#include "attune/bundle/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "attune/base/error.h"
#include "attune/checkpoint/safetensors.h"

namespace attune {

namespace {

constexpr const char* novelty_prefix = "novelty.";

std::vector<NamedTensor> novelty_tensors(const evaluate::NoveltyModel& novelty) {
  std::vector<NamedTensor> tensors;
  for (const auto& array : novelty.arrays())
    tensors.push_back({novelty_prefix + array.name,
                       Tensor::from<float>(Shape(std::span<const std::int64_t>(array.shape)), array.values)});
  return tensors;
}

evaluate::NoveltyModel read_novelty(const Path& file, const evaluate::CalibrationContract::Novelty& novelty) {
  SafetensorsFile stored = SafetensorsFile::open(file);
  std::vector<evaluate::NoveltyModel::Array> arrays;
  for (const TensorInfo& info : stored.tensors()) {
    if (!info.name.starts_with(novelty_prefix)) continue;
    Tensor values = stored.tensor(info.name);
    arrays.push_back({info.name.substr(std::string(novelty_prefix).size()),
                      {info.shape.sizes().begin(), info.shape.sizes().end()},
                      values.to(DType::F32).to_vector<float>()});
  }
  return evaluate::NoveltyModel::restore(novelty.method, novelty.neighbours, std::move(arrays));
}

std::vector<NamedTensor> weights_of(const Model& model) {
  std::vector<NamedTensor> weights;
  for (const Parameter& p : model.parameters().all()) weights.push_back({p.name, p.numbers().detached()});
  return weights;
}

Contract default_contract(const Bundle& bundle, const std::string& source) {
  Contract contract;
  if (bundle.model->facts().head == HeadKind::classify) contract.labels = labels_of(*bundle.config, source);
  contract.long_policy = {LongPolicy::Kind::refuse, bundle.model->facts().longest.value_or(0)};
  return contract;
}

std::string in_quotes(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) text += (text.empty() ? "" : ", ") + json_quoted(label);
  return text.empty() ? "none" : text;
}

/// The head that a contract's task needs; none where it names no task.
HeadKind head_for(const std::string& task, const std::string& source) {
  static const std::map<std::string, HeadKind> heads = {{"", HeadKind::none},
                                                        {"classify", HeadKind::classify},
                                                        {"mlm", HeadKind::masked_lm},
                                                        {"lm", HeadKind::causal_lm},
                                                        {"translate", HeadKind::sequence_to_sequence},
                                                        {"tag", HeadKind::tag},
                                                        {"answer", HeadKind::answer}};
  auto found = heads.find(task);
  check(found != heads.end(), "{}: \"task\" is {}: expected classify, mlm, lm, translate, tag or answer", source,
        json_quoted(task));
  return found->second;
}

/// What weights, config and tokenizer say must be what the contract promises: an answer under a wrong name would look
/// like any other.
void check_contract(const Bundle& bundle, const std::string& source) {
  const Contract& contract = bundle.contract;
  const ModelFacts& facts = bundle.model->facts();
  check(contract.task.empty() || head_for(contract.task, source) == facts.head,
        "{}: \"task\" is \"{}\", but the model is a {}: restore the file, or train again", source, contract.task,
        class_name(facts.model_type, facts.head));
  std::vector<std::string> own;
  if (facts.head == HeadKind::classify) own = labels_of(*bundle.config, (bundle.path / "config.json").string());
  check(contract.labels == own, "{}: \"labels\" are {}, but config.json has {}: restore the file, or train again",
        source, in_quotes(contract.labels), in_quotes(own));
  check(std::set(own.begin(), own.end()).size() == own.size(),
        "{}: two classes have the same label among {}: rename one in config.json and attune.json", source,
        in_quotes(own));
  std::int64_t longest = contract.long_policy.longest, bound = facts.longest.value_or(0);
  check(bound == 0 || longest <= bound, "{}: \"long.longest\" is {}, but the model takes {} tokens", source, longest,
        bound);
  if (longest == 0 || !bundle.tokenizer) return;
  auto special = static_cast<std::int64_t>(bundle.tokenizer->encode("").size());
  check(longest > special, "{}: \"long.longest\" is {}: that leaves no room beside {} special tokens", source, longest,
        special);
}

}  // namespace

const Tokenizer& Bundle::text() const {
  check(tokenizer.has_value(),
        "{} holds no tokenizer: texts need tokenizer.json, a SentencePiece model, vocab.txt, or vocab.json with "
        "merges.txt there",
        path.string());
  return *tokenizer;
}

std::vector<std::string> labels_of(const Json& config, const std::string& source) {
  std::vector<std::string> labels;
  if (!config.contains("id2label")) {
    for (std::int64_t i = 0, classes = config.value("num_labels", std::int64_t{2}); i < classes; ++i)
      labels.push_back(fmt::format("LABEL_{}", i));
    return labels;
  }
  const Json& names = config["id2label"];
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string key = std::to_string(i);
    check(names.is_object() && names.contains(key) && names[key].is_string(),
          "{}: \"id2label\" must name the classes 0 to {}", source, names.size() - 1);
    labels.push_back(names[key]);
  }
  return labels;
}

Bundle load_bundle(const Path& directory, const LoadOptions& options) {
  check(std::filesystem::is_directory(directory),
        "{}: there is no such model directory: check the path (`attune train` writes a model as RUN/model)",
        directory.string());
  Bundle bundle;
  bundle.path = directory;
  Path config_file = directory / "config.json";
  auto checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(directory));
  Json config = read_json(config_file);
  if (options.dropout) set_dropout(config, *options.dropout);
  if (!options.labels.empty()) {
    std::vector<std::string> own = labels_of(config, config_file.string());
    const std::vector<std::string> names = checkpoint->names();
    bool has_head =
        std::any_of(names.begin(), names.end(), [](const std::string& n) { return n.starts_with("classifier."); });
    check(!has_head || own == options.labels,
          "{} has a classifier for other labels ({}) than the data ({}): remove its head, or use its labels",
          directory.string(), fmt::join(own, ", "), fmt::join(options.labels, ", "));
    config["id2label"] = Json::object();
    for (std::size_t i = 0; i < options.labels.size(); ++i) config["id2label"][std::to_string(i)] = options.labels[i];
    config.erase("label2id");
  }
  WeightSource source{.checkpoint = checkpoint,
                      .initial = RandomKey{.seed = options.seed},
                      .trainable = options.trainable,
                      .type = options.type,
                      .linears = options.linears};
  bundle.config = config;
  bundle.model = build_model(config, config_file.string(), std::move(source), options.head);
  if (Tokenizer::is_in(directory)) bundle.tokenizer = Tokenizer::open(directory);
  Path contract_file = directory / "attune.json";
  if (std::filesystem::exists(contract_file)) {
    bundle.contract = Contract::read(contract_file);
    const auto& calibration = bundle.contract.calibration;
    if (calibration && calibration->novelty)
      bundle.novelty = read_novelty(directory / "attune.safetensors", *calibration->novelty);
  } else {
    bundle.contract = default_contract(bundle, config_file.string());
  }
  // With another head than its own the model begins something new, and a new contract is to be written.
  if (!options.head) check_contract(bundle, contract_file.string());
  return bundle;
}

void save_bundle(const Bundle& bundle, const Path& directory) {
  Json config = *bundle.config;
  config["architectures"] = {class_name(bundle.model->facts().model_type, bundle.model->facts().head)};
  if (!bundle.contract.labels.empty()) {
    Json names = Json::object(), numbers = Json::object();
    for (std::size_t i = 0; i < bundle.contract.labels.size(); ++i) {
      names[std::to_string(i)] = bundle.contract.labels[i];
      numbers[bundle.contract.labels[i]] = i;
    }
    config["id2label"] = names;
    config["label2id"] = numbers;
    config.erase("num_labels");
  }
  write_file_atomically(directory / "config.json", to_text(config, 2) + "\n");
  write_sharded(directory, weights_of(*bundle.model));
  if (bundle.tokenizer) bundle.tokenizer->save_in(directory);
  bundle.contract.write(directory / "attune.json");
  if (bundle.novelty) write_safetensors(directory / "attune.safetensors", novelty_tensors(*bundle.novelty));
}

void save_contract(const Bundle& bundle) {
  // The threshold in one file belongs to the arrays in the other: both are written before either is put in place.
  AtomicFile contract(bundle.path / "attune.json");
  contract.write(bundle.contract.text());
  if (bundle.novelty) write_safetensors(bundle.path / "attune.safetensors", novelty_tensors(*bundle.novelty));
  contract.commit();
}

}  // namespace attune
