#include "attune/models/encoder/encoder_model.h"

#include <algorithm>

#include "attune/ops/arithmetic.h"

namespace attune {

namespace {

using Spelling = NameRules::Spelling;

/// All names of a head's weights; norms in both spellings.
std::vector<std::string> weights_of(const HeadLayers& layers) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& part, const std::vector<const char*>& weights) {
    if (!part.empty())
      for (const char* weight : weights) names.push_back(part + weight);
  };
  add(layers.dense, {".weight", ".bias"});
  add(layers.back, {".weight", ".bias"});
  add(layers.norm, {".weight", ".bias", ".gamma", ".beta"});
  add(layers.output, {".weight", ".bias"});
  add(layers.tied_bias, {""});
  add(layers.untied_bias, {""});
  return names;
}

NameRules rules_of(const EncoderSpec& spec, HeadKind head) {
  const std::string base = spec.names.base + ".";
  NameRules rules{.spellings = {{Spelling::Place::prefix, base, ""}}, .unused = spec.names.unused};
  for (const std::string& norm : spec.names.norms) {
    rules.spellings.push_back({Spelling::Place::suffix, norm + ".weight", norm + ".gamma"});
    rules.spellings.push_back({Spelling::Place::suffix, norm + ".bias", norm + ".beta"});
  }
  // A file may be opened for its states or for another head, and a new head begins afresh.
  for (const auto& [kind, layers] : spec.heads)
    for (const std::string& name : weights_of(layers)) {
      if (kind == head) rules.may_be_new.push_back(name);
      rules.unused.push_back(name.starts_with(base) ? name.substr(base.size()) : name);
    }
  if (head != HeadKind::masked_lm || !spec.tied) return rules;
  // Some files have the output's bias under its other name alone.
  if (const auto found = spec.heads.find(head); found != spec.heads.end() && found->second.two_biases())
    rules.spellings.push_back({Spelling::Place::suffix, found->second.tied_bias, found->second.untied_bias});
  return rules;
}

}  // namespace

EncoderModel::EncoderModel(EncoderSpec spec, HeadKind head, WeightSource source)
    : Model(std::move(source), rules_of(spec, head)), spec_(std::move(spec)) {
  const Weights root(parameters_), base = root / spec_.names.base;
  build_embeddings(base);
  read_frequencies(base);
  build_blocks(base, head);
  if (spec_.norm) norm_ = spec_.norm(base / spec_.names.norm);
  if (head != HeadKind::none) head_ = make_head(head, root, spec_.heads.at(head), spec_.tied ? &words_ : nullptr);
  facts_ = {.model_type = spec_.model_type,
            .head = head,
            .vocab_size = spec_.vocab_size,
            .hidden_size = spec_.hidden_size,
            .layers = spec_.layers,
            .longest = spec_.longest,
            .pad_token_id = spec_.pad_token_id,
            .eos_token_ids = spec_.eos_token_ids};
  if (head == HeadKind::answer) facts_.question_end = spec_.heads.at(head).question_end;
}

void EncoderModel::build_embeddings(const Weights& base) {
  const EncoderNames& names = spec_.names;
  const std::int64_t width = spec_.embedding_size > 0 ? spec_.embedding_size : spec_.hidden_size;
  words_ = Embedding(base / names.words, spec_.vocab_size, width, spec_.padding_row, spec_.deviation);
  if (spec_.positions) positions_ = spec_.positions(base);
  if (spec_.types > 0) types_ = Embedding(base / names.types, spec_.types, width, {}, spec_.deviation);
  const auto& steps = spec_.embedding_steps;
  const auto has = [&](EmbeddingStep step) { return std::find(steps.begin(), steps.end(), step) != steps.end(); };
  if (has(EmbeddingStep::norm)) embedding_norm_ = spec_.embedding_norm(base / names.embedding_norm);
  if (has(EmbeddingStep::project))
    projection_ = Linear(base / names.projection, width, spec_.hidden_size,
                         {.bias = spec_.projection_bias, .deviation = spec_.deviation});
}

void EncoderModel::read_frequencies(const Weights& base) {
  for (const std::string& name : spec_.frequencies) {
    if (!base.in_file(name)) continue;
    RopeConfig& rope = spec_.rope.at(0);
    rope.frequencies = base.constant(name, {rope.rotary_dims / 2}, Initial::zeros()).to(DType::F32).to_vector<float>();
    return;
  }
}

void EncoderModel::build_blocks(const Weights& base, HeadKind head) {
  const BlockOf block_of = spec_.blocks(base, head);
  std::map<std::string, Block> made;
  for (int i = 0; i < spec_.layers; ++i) {
    const std::string name = spec_.layer_name ? spec_.layer_name(i) : spec_.names.layers + "." + std::to_string(i);
    const Place place{Stack::encoder, i};
    auto found = made.find(name);
    if (found == made.end()) found = made.emplace(name, block_of(base / name, place)).first;
    layers_.push_back(found->second);
    layers_.back().place = place;
  }
}

Tensor EncoderModel::types_of(const Batch& batch) const {
  if (batch.type_ids.defined()) return batch.type_ids;
  if (!facts_.question_end) return Tensor::zeros({batch.tokens()}, DType::I64);
  std::vector<std::int64_t> types;
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    const std::vector<std::int64_t> own = types_by_question(ids_of(batch, s), *facts_.question_end);
    types.insert(types.end(), own.begin(), own.end());
  }
  return Tensor::from<std::int64_t>({batch.tokens()}, types);
}

Tensor EncoderModel::embedded(const Batch& batch) const {
  Tensor x = words_(batch.ids);  // [tokens, embedding_size]
  if (spec_.rescaled) x = spec_.rescaled(x, batch);
  if (types_) {
    x = add(x, (*types_)(types_of(batch)));
  }
  if (positions_) x = add(x, positions_(batch));
  for (EmbeddingStep step : spec_.embedding_steps) {
    if (step == EmbeddingStep::norm) x = embedding_norm_(x);
    if (step == EmbeddingStep::dropout) x = batch.dropped(x, spec_.embedding_dropout, batch.site("embeddings"));
    if (step == EmbeddingStep::project) x = (*projection_)(x);
  }
  return x;
}

Tensor EncoderModel::forward(const Batch& batch, Observer* observer) const {
  Tensor x = embedded(batch);
  Batch turned = batch;
  for (const RopeConfig& rope : spec_.rope) turned.rotary.push_back(to_type(rotary_table(rope, batch), x.dtype()));
  if (observer) observer->hidden_state(Stack::encoder, 0, x);
  const bool norm_follows = !norm_.identity();
  x = norm_(run(layers_, x, turned, observer, nullptr, norm_follows));
  if (observer && norm_follows) observer->hidden_state(Stack::encoder, static_cast<int>(layers_.size()), x);
  return x;
}

Architecture encoder_architecture(Architecture base, const std::string& class_prefix,
                                  EncoderSpec (*read)(const ConfigReader& config)) {
  std::vector<std::pair<std::string, HeadKind>> classes = {
      {class_prefix + "Model", HeadKind::none},
      {class_prefix + "ForMaskedLM", HeadKind::masked_lm},
      {class_prefix + "ForSequenceClassification", HeadKind::classify},
      {class_prefix + "ForTokenClassification", HeadKind::tag},
      {class_prefix + "ForQuestionAnswering", HeadKind::answer}};
  classes.insert(classes.end(), base.classes.begin(), base.classes.end());
  base.classes = std::move(classes);
  base.build = [read](const ConfigReader& config, HeadKind head, WeightSource source) -> std::unique_ptr<Model> {
    EncoderSpec spec = read(config);
    for (auto& [kind, layers] : spec.heads) {
      layers.hidden = spec.hidden_size;
      layers.deviation = spec.deviation;
      layers.outputs = kind == HeadKind::masked_lm ? spec.vocab_size : label_count(config);
    }
    if (head != HeadKind::none && !spec.heads.contains(head))
      config.reject("architectures", "this architecture has no such head");
    return std::make_unique<EncoderModel>(std::move(spec), head, std::move(source));
  };
  base.output_layer = [read](const ConfigReader& config, HeadKind head) -> std::string {
    if (head != HeadKind::classify && head != HeadKind::tag && head != HeadKind::answer) return "";
    const EncoderSpec spec = read(config);
    const auto found = spec.heads.find(head);
    return found == spec.heads.end() ? "" : found->second.output;
  };
  return base;
}

}  // namespace attune
