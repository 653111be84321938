#include "attune/bundle/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/bundle/gguf_config.h"
#include "attune/bundle/gguf_tokenizer.h"
#include "attune/bundle/model_path.h"
#include "attune/checkpoint/gguf_weights.h"
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

bool is_gguf(const Path& model) { return model.extension() == ".gguf"; }

namespace {

Path beside(const Path& model, const char* name) {
  if (!is_gguf(model)) return model / name;
  return model.parent_path() / (model.stem().string() + "." + name);
}

}  // namespace

Path contract_file(const Path& model) { return beside(model, "attune.json"); }
Path novelty_file(const Path& model) { return beside(model, "attune.safetensors"); }

namespace {

/// What a model's files hold, before the model is built of it.
struct ModelFiles {
  std::shared_ptr<const Checkpoint> checkpoint;
  Json config;
  std::string config_name;  // for messages
};

/// What they hold for texts.
struct TextFiles {
  std::optional<Tokenizer> tokenizer = {};
  ChatTexts chat = {};
  Companions companions = {};
};

ModelFiles read_directory(const Path& directory) {
  check_model_directory(directory);
  const Path config = directory / "config.json";
  return {std::make_shared<const Checkpoint>(Checkpoint::open(directory)), read_json(config), config.string()};
}

TextFiles read_directory_texts(const Path& directory) {
  TextFiles files;
  if (Tokenizer::is_in(directory)) files.tokenizer = Tokenizer::open(directory);
  files.chat = ChatTexts::read(directory);
  files.companions = read_companions(directory);
  return files;
}

Tokenizer tokenizer_of(const GgufFile& file) {
  return within("reading " + file.path().string(), [&] {
    check(has_gguf_tokenizer(file.metadata()), "its metadata hold no tokenizer");
    return Tokenizer::parse(gguf_tokenizer_json(file.metadata()), "its tokenizer");
  });
}

ModelFiles read_gguf(const Path& file) {
  ModelFiles files{std::make_shared<const Checkpoint>(Checkpoint::open(file)), {}, "the metadata of " + file.string()};
  const GgufFile& gguf = *files.checkpoint->gguf();
  const GgufMetadata& metadata = gguf.metadata();
  const std::string name = architecture_of(metadata);
  files.config = gguf_config(gguf, gguf_architecture(name, metadata.integer(name + ".expert_count").value_or(0) > 0));
  return files;
}

TextFiles read_gguf_texts(const GgufFile& gguf) {
  const GgufMetadata& metadata = gguf.metadata();
  TextFiles files;
  if (!has_gguf_tokenizer(metadata)) return files;
  files.tokenizer = tokenizer_of(gguf);
  const Json settings = gguf_tokenizer_config(metadata, *files.tokenizer);
  files.chat = gguf_chat_texts(metadata, gguf.path(), settings);
  files.companions["tokenizer_config.json"] = to_text(settings, 2) + "\n";
  return files;
}

/// The config of a head of classes that begins afresh, with the labels of the data. A file that has its head keeps its
/// labels, and the data's must be among them.
void set_labels(ModelFiles& files, const LoadOptions& options) {
  const HeadKind kind = options.head.value_or(HeadKind::classify);
  if (has_head(files.config, files.config_name, *files.checkpoint, kind)) {
    const std::vector<std::string> own = labels_of(files.config, files.config_name);
    for (const std::string& label : options.labels)
      check(std::find(own.begin(), own.end(), label) != own.end(),
            "{} has a classifier for other labels ({}) than the data ({}): remove its head, or use its labels",
            files.checkpoint->source(), fmt::join(own, ", "), fmt::join(options.labels, ", "));
    return;
  }
  files.config["id2label"] = Json::object();
  for (std::size_t i = 0; i < options.labels.size(); ++i)
    files.config["id2label"][std::to_string(i)] = options.labels[i];
  files.config.erase("label2id");
}

}  // namespace

Tokenizer open_tokenizer(const Path& model) {
  return is_gguf(model) ? tokenizer_of(GgufFile::open(model)) : Tokenizer::open(model);
}

Bundle load_bundle(const Path& model, const LoadOptions& options) {
  ModelFiles files = is_gguf(model) ? read_gguf(model) : read_directory(model);
  // A tokenizer is read by one thread, in as much time as a small model: where there is another, beside the model.
  std::future<TextFiles> texts =
      std::async(num_threads() > 1 ? std::launch::async : std::launch::deferred, [&, checkpoint = files.checkpoint] {
        return is_gguf(model) ? read_gguf_texts(*checkpoint->gguf()) : read_directory_texts(model);
      });
  if (options.dropout) set_dropout(files.config, *options.dropout);
  if (!options.labels.empty()) set_labels(files, options);
  WeightSource source{.checkpoint = files.checkpoint,
                      .initial = RandomKey{.seed = options.seed},
                      .trainable = options.trainable,
                      .type = options.type,
                      .linears = options.linears};
  Bundle bundle;
  bundle.path = model;
  bundle.config = files.config;
  bundle.model = build_model(files.config, files.config_name, std::move(source), options.head, &bundle.defaults);
  TextFiles of_texts = texts.get();
  bundle.tokenizer = std::move(of_texts.tokenizer);
  bundle.chat = std::move(of_texts.chat);
  bundle.companions = std::move(of_texts.companions);
  const Path contract = contract_file(model);
  if (std::filesystem::exists(contract)) {
    bundle.contract = Contract::read(contract);
    const auto& calibration = bundle.contract.calibration;
    if (calibration && calibration->novelty) bundle.novelty = read_novelty(novelty_file(model), *calibration->novelty);
  } else {
    bundle.contract = default_contract(bundle, files.config_name);
  }
  // With another head than its own the model begins something new, and a new contract is to be written.
  if (!options.head) check_contract(bundle, contract.string());
  return bundle;
}

namespace {

bool writes_text(HeadKind head) { return head == HeadKind::causal_lm || head == HeadKind::sequence_to_sequence; }

}  // namespace

void save_bundle(const Bundle& bundle, const Path& directory) {
  Json config = *bundle.config;
  config["architectures"] = {class_name(bundle.model->facts().model_type, bundle.model->facts().head)};
  std::vector<std::string> labels = bundle.contract.labels;
  if (bundle.model->facts().head == HeadKind::tag) labels = labels_of(config, "the model's config");
  if (!labels.empty()) {
    Json names = Json::object(), numbers = Json::object();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      names[std::to_string(i)] = labels[i];
      numbers[labels[i]] = i;
    }
    config["id2label"] = names;
    config["label2id"] = numbers;
    config.erase("num_labels");
  }
  write_file_atomically(directory / "config.json", to_text(config, 2) + "\n");
  write_sharded(directory, weights_of(*bundle.model));
  Companions companions = bundle.companions;
  if (!writes_text(bundle.model->facts().head)) companions.erase("generation_config.json");
  write_companions(companions, directory);
  if (bundle.tokenizer) bundle.tokenizer->save_in(directory);
  if (bundle.tokenizer && !companions.contains("tokenizer_config.json") &&
      std::filesystem::exists(directory / "tokenizer.json"))
    write_file_atomically(directory / "tokenizer_config.json",
                          to_text(own_tokenizer_config(*bundle.tokenizer), 2) + "\n");
  bundle.contract.write(directory / "attune.json");
  if (bundle.novelty) write_safetensors(directory / "attune.safetensors", novelty_tensors(*bundle.novelty));
}

void save_contract(const Bundle& bundle) {
  // The threshold in one file belongs to the arrays in the other: both are written before either is put in place.
  AtomicFile contract(contract_file(bundle.path));
  contract.write(bundle.contract.text());
  if (bundle.novelty) write_safetensors(novelty_file(bundle.path), novelty_tensors(*bundle.novelty));
  contract.commit();
}

}  // namespace attune
