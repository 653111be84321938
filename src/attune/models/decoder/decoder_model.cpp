#include "attune/models/decoder/decoder_model.h"

#include "attune/models/heads.h"
#include "attune/nn/feedforward/experts.h"
#include "attune/ops/arithmetic.h"

namespace attune {

namespace {

constexpr const char* classifier = "score";

NameRules rules_of(const DecoderNames& names, HeadKind head) {
  using Place = NameRules::Spelling::Place;
  // Files of models that answer call the base so.
  NameRules rules{
      .spellings = {{Place::prefix, names.base + ".", ""}, {Place::prefix, names.base + ".", "transformer."}},
      .stacked = names.stacked,
      .unused = names.unused,
      .may_be_new = {names.head + ".", std::string(classifier) + ".", names.tag + ".", names.answer + "."}};
  rules.spellings.insert(rules.spellings.end(), names.spellings.begin(), names.spellings.end());
  // A file of a language model may be opened for its states or for another head.
  if (head != HeadKind::causal_lm) {
    std::vector<std::string> heads = {names.head + "."};
    for (const NameRules::Spelling& spelling : names.spellings)
      if (spelling.ours == heads.front()) heads.push_back(spelling.other);
    for (const std::string& name : heads)
      for (const char* part : {"weight", "bias"}) rules.unused.push_back(name + part);
  }
  if (head != HeadKind::classify) rules.unused.push_back(std::string(classifier) + ".weight");
  for (const auto& [kind, output] : {std::pair{HeadKind::tag, names.tag}, std::pair{HeadKind::answer, names.answer}})
    if (head != kind)
      for (const char* part : {".weight", ".bias"}) rules.unused.push_back(output + part);
  return rules;
}

}  // namespace

DecoderModel::DecoderModel(DecoderSpec spec, HeadKind head, WeightSource source)
    : Model(std::move(source), rules_of(spec.names, head)), spec_(std::move(spec)) {
  const DecoderNames& names = spec_.names;
  const Weights root(parameters_), base = root / names.base;
  const std::int64_t outside = spec_.embedding_size > 0 ? spec_.embedding_size : spec_.hidden_size;
  const LinearOptions dense{.bias = false, .deviation = spec_.deviation};
  words_ = Embedding(base / names.words, spec_.vocab_size, outside,
                     spec_.padding_learns ? std::nullopt : spec_.pad_token_id, spec_.deviation);
  if (outside != spec_.hidden_size) {
    project_in_ = Linear(base / names.project_in, outside, spec_.hidden_size, dense);
    project_out_ = Linear(base / names.project_out, spec_.hidden_size, outside, dense);
  }
  if (spec_.positions) positions_ = spec_.positions(base);
  if (spec_.embedding_norm) embedding_norm_ = spec_.embedding_norm(base / names.embedding_norm);
  for (int i = 0; i < spec_.layers; ++i) layers_.push_back(spec_.block(base / names.layers / i, {Stack::decoder, i}));
  if (spec_.norm) norm_ = spec_.norm(base / names.norm);
  spec_.head.deviation = spec_.deviation;
  if (head == HeadKind::causal_lm)
    head_ = std::make_unique<CausalLmHead>(
        spec_.tied ? CausalLmHead(words_, root / names.head, spec_.head)
                   : CausalLmHead(root / names.head, outside, spec_.vocab_size, spec_.head));
  if (head == HeadKind::classify)
    head_ = std::make_unique<LastTokenHead>(root / classifier, outside, spec_.labels, spec_.deviation);
  if (head == HeadKind::tag || head == HeadKind::answer) {
    const bool tags = head == HeadKind::tag;
    const HeadLayers output{.output = tags ? names.tag : names.answer,
                            .hidden = outside,
                            .outputs = spec_.labels,
                            .deviation = spec_.deviation,
                            .dropout = tags ? spec_.tag_dropout : 0};
    head_ = make_head(head, root, output, nullptr);
  }
  facts_ = {.model_type = spec_.model_type,
            .head = head,
            .vocab_size = spec_.vocab_size,
            .hidden_size = outside,
            .layers = spec_.layers,
            .longest = spec_.longest,
            .pad_token_id = spec_.pad_token_id,
            .eos_token_ids = spec_.eos_token_ids,
            .cached_attention = spec_.attention,
            .shares_keys = true,
            .router_loss = head == HeadKind::causal_lm ? spec_.router_loss : 0};
  for (const RopeConfig& rope : spec_.rope)
    if (rope.scaling.depends_on_length()) facts_.shares_keys = false;
}

Tensor DecoderModel::forward(const Batch& batch, Observer* observer) const {
  if (batch.routing) batch.routing->layers.clear();
  Tensor x = words_(batch.ids);  // [tokens, hidden]
  if (spec_.embedding_scale != 1) x = scale(x, spec_.embedding_scale);
  if (project_in_) x = (*project_in_)(x);
  if (positions_) x = add(x, positions_(batch));
  x = batch.dropped(embedding_norm_(x), spec_.embedding_dropout, batch.site("embeddings"));
  Batch turned = batch;
  for (const RopeConfig& rope : spec_.rope) turned.rotary.push_back(to_type(rotary_table(rope, batch), x.dtype()));
  if (observer) observer->hidden_state(Stack::decoder, 0, x);
  const bool more_follows = !norm_.identity() || project_out_;
  x = norm_(run(layers_, x, turned, observer, nullptr, more_follows));
  if (project_out_) x = (*project_out_)(x);
  if (observer && more_follows) observer->hidden_state(Stack::decoder, static_cast<int>(layers_.size()), x);
  return x;
}

AttentionMask causal_within(std::int64_t window) {
  return window > 0 ? causal() & attune::window(window - 1, 0) : causal();
}

Architecture decoder_architecture(Architecture base, const std::string& class_prefix,
                                  DecoderSpec (*read)(const ConfigReader& config)) {
  if (base.classes.empty())
    base.classes = {{class_prefix + "Model", HeadKind::none},
                    {class_prefix + "ForCausalLM", HeadKind::causal_lm},
                    {class_prefix + "ForSequenceClassification", HeadKind::classify},
                    {class_prefix + "ForTokenClassification", HeadKind::tag},
                    {class_prefix + "ForQuestionAnswering", HeadKind::answer}};
  base.dropout_keys.push_back("classifier_dropout");
  base.build = [read](const ConfigReader& config, HeadKind head, WeightSource source) -> std::unique_ptr<Model> {
    DecoderSpec spec = read(config);
    spec.labels = label_count(config);
    spec.tag_dropout = config.number_or("classifier_dropout", config.number_or("hidden_dropout", 0.1, {0, 1}), {0, 1});
    return std::make_unique<DecoderModel>(std::move(spec), head, std::move(source));
  };
  base.output_layer = [read](const ConfigReader& config, HeadKind head) -> std::string {
    if (head == HeadKind::classify) return classifier;
    if (head == HeadKind::tag) return read(config).names.tag;
    return head == HeadKind::answer ? read(config).names.answer : "";
  };
  return base;
}

}  // namespace attune
