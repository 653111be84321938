#include "attune/bundle/sentence_embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/config_reader.h"
#include "attune/base/error.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/ops/pooling.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

const std::vector<std::pair<SentencePooling, std::string>>& pooling_names() {
  static const std::vector<std::pair<SentencePooling, std::string>> names = {
      {SentencePooling::cls, "cls"},
      {SentencePooling::mean, "mean"},
      {SentencePooling::max, "max"},
      {SentencePooling::mean_sqrt_len, "mean_sqrt_len_tokens"},
      {SentencePooling::weighted_mean, "weightedmean"},
      {SentencePooling::last_token, "lasttoken"}};
  return names;
}

std::string after_last_dot(const std::string& name) { return name.substr(name.rfind('.') + 1); }

/// Older files have a flag a mode, newer ones "pooling_mode": a name or a list of them.
void read_pooling(const Path& file, SentenceEmbedding& to) {
  const ConfigReader c = ConfigReader::file(file);
  c.ignore({"word_embedding_dimension", "embedding_dimension"});
  to.include_prompt = c.flag_or("include_prompt", true);
  to.pooling.clear();
  const Json& modes = c.raw("pooling_mode");
  for (const Json& mode : modes.is_array() ? modes : Json::array({modes})) {
    if (mode.is_null()) continue;
    if (!mode.is_string()) c.reject("pooling_mode", "expected a name or a list of names");
    to.pooling.push_back(parse_sentence_pooling(mode));
  }
  static const std::vector<std::pair<const char*, SentencePooling>> flags = {
      {"pooling_mode_cls_token", SentencePooling::cls},
      {"pooling_mode_max_tokens", SentencePooling::max},
      {"pooling_mode_mean_tokens", SentencePooling::mean},
      {"pooling_mode_mean_sqrt_len_tokens", SentencePooling::mean_sqrt_len},
      {"pooling_mode_weightedmean_tokens", SentencePooling::weighted_mean},
      {"pooling_mode_lasttoken", SentencePooling::last_token}};
  const bool named = !to.pooling.empty();
  for (const auto& [key, mode] : flags)
    if (c.flag_or(key, false) && !named) to.pooling.push_back(mode);
  if (to.pooling.empty()) to.pooling = {SentencePooling::mean};
  c.finish();
}

std::optional<Activation> read_dense_activation(const ConfigReader& c) {
  static const std::vector<std::pair<std::string, Activation>> known = {{"Tanh", Activation::tanh},
                                                                        {"ReLU", Activation::relu},
                                                                        {"GELU", Activation::gelu},
                                                                        {"Sigmoid", Activation::sigmoid},
                                                                        {"SiLU", Activation::silu}};
  const std::string name = after_last_dot(c.string_or("activation_function", "torch.nn.modules.activation.Tanh"));
  if (name == "Identity") return {};
  for (const auto& [theirs, ours] : known)
    if (name == theirs) return ours;
  c.reject("activation_function", "known here: Tanh, ReLU, GELU, Sigmoid, SiLU, Identity");
}

SentenceEmbedding::Dense read_dense(const Path& folder) {
  const ConfigReader c = ConfigReader::file(folder / "config.json");
  const std::int64_t in = c.integer("in_features", {.at_least = 1}), out = c.integer("out_features", {.at_least = 1});
  const bool bias = c.flag_or("bias", true);
  if (c.flag_or("use_residual", false)) c.reject("use_residual", "a dense layer is not added to its input here");
  for (const char* key : {"module_input_name", "module_output_name"})
    c.choice_or(key, "sentence_embedding", {"sentence_embedding"});
  SentenceEmbedding::Dense dense{.weight = {}, .bias = {}, .activation = read_dense_activation(c)};
  c.finish();
  const Checkpoint weights = Checkpoint::open(folder);
  const Tensor weight = weights.tensor("linear.weight").to(DType::F32).clone();
  check(weight.shape() == Shape({out, in}), "{}: linear.weight is {}, and config.json says [{}, {}]", folder.string(),
        weight.shape(), out, in);
  dense.weight = LinearWeight(weight);
  if (bias) {
    dense.bias = weights.tensor("linear.bias").to(DType::F32).clone();
    check(dense.bias.shape() == Shape({out}), "{}: linear.bias is {}, and config.json says [{}]", folder.string(),
          dense.bias.shape(), out);
  }
  return dense;
}

void read_module(const Path& directory, const Json& module, const std::string& source, SentenceEmbedding& to) {
  check(module.is_object() && module.value("type", Json()).is_string(), "{}: a module has no \"type\"", source);
  const std::string type = after_last_dot(module["type"]);
  const std::string path = module.value("path", "");
  check(path.find("..") == std::string::npos && !Path(path).is_absolute(), "{}: the path \"{}\" leaves the directory",
        source, path);
  if (type == "Transformer") {
    check(path.empty(), "{}: its encoder is in \"{}\": open {} instead", source, path, (directory / path).string());
  } else if (type == "Pooling") {
    read_pooling(directory / path / "config.json", to);
  } else if (type == "Dense") {
    to.dense.push_back(read_dense(directory / path));
  } else if (type == "Normalize") {
    to.normalize = true;
  } else {
    fail("{}: a module is a {}: this program knows Transformer, Pooling, Dense and Normalize", source, type);
  }
}

void read_prompts(const Path& file, SentenceEmbedding& to) {
  if (!std::filesystem::exists(file)) return;
  const ConfigReader c = ConfigReader::file(file);
  const Json& prompts = c.raw("prompts");
  if (prompts.is_object())
    for (const auto& [name, text] : prompts.items()) {
      if (!text.is_string()) c.reject("prompts", "expected texts by name");
      to.prompts[name] = text;
    }
  to.default_prompt = c.string_or("default_prompt_name", "");
  if (!to.default_prompt.empty() && !to.prompts.contains(to.default_prompt))
    c.reject("default_prompt_name", "is none of \"prompts\"");
  c.ignore({"__version__", "similarity_fn_name", "model_type"});
  c.finish();
}

/// Where newer files keep the longest input; a number beyond all measure stands for none.
std::optional<std::int64_t> longest_of_tokenizer(const Path& file) {
  if (!std::filesystem::exists(file)) return {};
  const Json config = read_json(file);
  const Json longest = config.is_object() ? config.value("model_max_length", Json()) : Json();
  if (!longest.is_number() || longest.get<double>() < 1 || longest.get<double>() > 1e9) return {};
  return longest.get<std::int64_t>();
}

Tensor token_at(const Tensor& states, const Offsets& offsets, bool first) {
  std::vector<std::int64_t> rows;
  for (std::int64_t s = 0; s < offsets.count(); ++s) rows.push_back(first ? offsets.begin(s) : offsets.end(s) - 1);
  return select_rows(states, Tensor::from<std::int64_t>({offsets.count()}, rows));
}

/// Rows times a number each. x: [rows, width]
Tensor times(const Tensor& x, const std::vector<float>& factors) {
  std::vector<float> values = x.to_vector<float>();
  const auto width = static_cast<std::size_t>(x.dim(1));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[i / width];
  return Tensor::from<float>(x.shape(), values);
}

Tensor pooled(SentencePooling mode, const Tensor& states, const Offsets& offsets, std::int64_t skipped) {
  if (mode == SentencePooling::cls || mode == SentencePooling::last_token)
    return token_at(states, offsets, mode == SentencePooling::cls);
  if (mode == SentencePooling::max) return segment_max(states, offsets);
  if (mode == SentencePooling::mean) return segment_mean(states, offsets);
  std::vector<float> each, whole;  // what a token counts, and what its sequence's mean is multiplied by
  for (std::int64_t s = 0; s < offsets.count(); ++s) {
    const auto n = static_cast<double>(offsets.length(s)), before = static_cast<double>(skipped);
    for (std::int64_t t = 0; t < offsets.length(s); ++t) each.push_back(static_cast<float>(skipped + t + 1));
    const double weights = n * before + n * (n + 1) / 2;
    whole.push_back(static_cast<float>(mode == SentencePooling::mean_sqrt_len ? std::sqrt(n) : n / weights));
  }
  if (mode == SentencePooling::mean_sqrt_len) return times(segment_mean(states, offsets), whole);
  return times(segment_mean(times(states, each), offsets), whole);
}

/// Parts of as many rows, one beside the other.
Tensor beside(const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return parts[0];
  const std::int64_t rows = parts[0].dim(0);
  std::int64_t width = 0;
  for (const Tensor& part : parts) width += part.dim(1);
  std::vector<float> values(static_cast<std::size_t>(rows * width));
  std::int64_t column = 0;
  for (const Tensor& part : parts) {
    const std::vector<float> from = part.to_vector<float>();
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(from.begin() + r * part.dim(1), part.dim(1), values.begin() + r * width + column);
    column += part.dim(1);
  }
  return Tensor::from<float>({rows, width}, values);
}

/// To length 1; zeros stay zeros (torch.nn.functional.normalize).
Tensor normalized(const Tensor& x) {
  std::vector<float> values = x.to_vector<float>(), factors;
  const auto width = static_cast<std::size_t>(x.dim(1));
  for (std::size_t row = 0; row < values.size(); row += width) {
    double sum = 0;
    for (std::size_t i = row; i < row + width; ++i) sum += static_cast<double>(values[i]) * values[i];
    factors.push_back(static_cast<float>(1 / std::max(std::sqrt(sum), 1e-12)));
  }
  return times(x, factors);
}

}  // namespace

SentencePooling parse_sentence_pooling(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [mode, theirs] : pooling_names()) {
    if (name == theirs) return mode;
    known.push_back(theirs);
  }
  fail("pooling \"{}\" is not known: take {}", name, fmt::join(known, ", "));
}

std::string name_of(SentencePooling pooling) {
  for (const auto& [mode, name] : pooling_names())
    if (mode == pooling) return name;
  return "";
}

SentenceEmbedding SentenceEmbedding::read(const Path& directory) {
  SentenceEmbedding embedding;
  const Path modules_file = directory / "modules.json";
  if (!std::filesystem::exists(modules_file)) return embedding;
  const Json modules = read_json(modules_file);
  check(modules.is_array(), "{}: expected a list of modules", modules_file.string());
  for (const Json& module : modules) read_module(directory, module, modules_file.string(), embedding);
  const Path transformer = directory / "sentence_bert_config.json";
  if (std::filesystem::exists(transformer)) {
    const ConfigReader c = ConfigReader::file(transformer);
    if (c.has("max_seq_length")) embedding.longest = c.integer("max_seq_length", {.at_least = 1});
    c.ignore({"max_seq_length", "transformer_task", "modality_config", "module_output_name", "unpad_inputs"});
    embedding.lower_case = c.flag_or("do_lower_case", false);
    c.finish();
  }
  if (!embedding.longest) embedding.longest = longest_of_tokenizer(directory / "tokenizer_config.json");
  read_prompts(directory / "config_sentence_transformers.json", embedding);
  return embedding;
}

std::int64_t SentenceEmbedding::width(std::int64_t hidden) const {
  return dense.empty() ? hidden * static_cast<std::int64_t>(pooling.size()) : dense.back().weight.out_features();
}

Tensor SentenceEmbedding::operator()(const Tensor& states, const Offsets& offsets, std::int64_t skipped) const {
  Tensor rows = states;
  Offsets kept = offsets;
  if (skipped > 0) {
    std::vector<std::int64_t> places, lengths;
    for (std::int64_t s = 0; s < offsets.count(); ++s) {
      check(offsets.length(s) > skipped, "text {} has {} tokens, and the prompt alone has {}: nothing is left to embed",
            s + 1, offsets.length(s), skipped);
      for (std::int64_t t = offsets.begin(s) + skipped; t < offsets.end(s); ++t) places.push_back(t);
      lengths.push_back(offsets.length(s) - skipped);
    }
    rows = select_rows(states, Tensor::from<std::int64_t>({static_cast<std::int64_t>(places.size())}, places));
    kept = Offsets::from_lengths(lengths);
  }
  std::vector<Tensor> parts;
  for (SentencePooling mode : pooling) parts.push_back(pooled(mode, rows, kept, skipped));
  Tensor y = beside(parts);
  for (const Dense& layer : dense) {
    y = linear(y, layer.weight, layer.bias);
    if (layer.activation) y = activation(y, *layer.activation);
  }
  return normalize ? normalized(y) : y;
}

}  // namespace attune
