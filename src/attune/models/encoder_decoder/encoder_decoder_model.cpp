#include "attune/models/encoder_decoder/encoder_decoder_model.h"

#include <algorithm>

#include "attune/base/error.h"
#include "attune/models/encoder_decoder/encoder_decoder_heads.h"
#include "attune/ops/arithmetic.h"

namespace attune {

namespace {

constexpr const char* classifier = "classification_head";

std::string with_dot(const std::string& scope) { return scope.empty() ? "" : scope + "."; }

NameRules rules_of(const EncoderDecoderSpec& spec, HeadKind head) {
  constexpr auto prefix = NameRules::Spelling::Place::prefix;
  const std::string base = with_dot(spec.names.base), other = with_dot(spec.names.other_base);
  NameRules rules{.spellings = {{prefix, base, other}},
                  .unused = spec.names.unused,
                  .may_be_new = {"lm_head.", "final_logits_bias", std::string(classifier) + "."}};
  // One table under any of its names.
  if (spec.tied) {
    for (const std::string& scope : {base, other})
      for (const char* stack : {"encoder.embed_tokens.", "decoder.embed_tokens."})
        rules.spellings.push_back({prefix, scope + "shared.", scope + stack});
    rules.spellings.push_back({prefix, base + "shared.", "lm_head."});
  } else {
    rules.unused.push_back("shared.weight");
  }
  // A file may be opened for its states or for another head.
  if (head != HeadKind::sequence_to_sequence)
    for (const char* name : {"lm_head.weight", "final_logits_bias"}) rules.unused.push_back(name);
  if (head != HeadKind::classify)
    for (const char* layer : {".dense.weight", ".dense.bias", ".out_proj.weight", ".out_proj.bias"})
      rules.unused.push_back(std::string(classifier) + layer);
  return rules;
}

}  // namespace

EncoderDecoderModel::EncoderDecoderModel(EncoderDecoderSpec spec, HeadKind head, WeightSource source)
    : Model(std::move(source), rules_of(spec, head)), spec_(std::move(spec)) {
  const Weights root(parameters_), base = spec_.names.base.empty() ? root : root / spec_.names.base;
  Embedding shared;
  if (spec_.tied)
    shared = Embedding(base / "shared", spec_.vocab_size, spec_.hidden_size,
                       spec_.padding_learns ? std::nullopt : spec_.pad_token_id, spec_.deviation);
  encoder_ = build(base / "encoder", shared, Stack::encoder);
  if (!spec_.encoder_alone) decoder_ = build(base / "decoder", shared, Stack::decoder);
  add_head(root, shared, head);
  facts_ = {.model_type = spec_.model_type,
            .head = head,
            .vocab_size = spec_.vocab_size,
            .hidden_size = spec_.hidden_size,
            .layers = spec_.layers,
            .longest = spec_.longest,
            .pad_token_id = spec_.pad_token_id,
            .decoder_start_token_id = spec_.encoder_alone ? std::nullopt : spec_.decoder_start_token_id,
            .eos_token_ids = spec_.eos_token_ids,
            .cached_attention = spec_.decoder_attention,
            .two_stacks = !spec_.encoder_alone,
            .begins_with_last_label = spec_.begins_with_last_label};
}

EncoderDecoderModel::StackParts EncoderDecoderModel::build(const Weights& stack, const Embedding& shared,
                                                           Stack which) const {
  StackParts parts;
  const auto padding = spec_.padding_learns ? std::nullopt : spec_.pad_token_id;
  const Weights words = stack / "embed_tokens";
  const bool own = !spec_.tied || has_own_words(words, shared);
  parts.words = own ? Embedding(words, spec_.vocab_size, spec_.hidden_size, padding, spec_.deviation) : shared;
  if (!own) shared.tied(words, "weight");
  if (spec_.positions) parts.positions = spec_.positions(stack);
  if (spec_.embedding_norm) parts.embedding_norm = spec_.embedding_norm(stack / "layernorm_embedding");
  parts.blocks = spec_.blocks(stack, which);
  if (spec_.norm) parts.norm = spec_.norm(stack / spec_.names.norm);
  return parts;
}

bool EncoderDecoderModel::has_own_words(const Weights& w, const Embedding& shared) const {
  const auto& checkpoint = parameters_.source().checkpoint;
  if (!checkpoint) return false;
  const std::string base = with_dot(spec_.names.base), name = w.scope() + ".weight";
  const std::string other = with_dot(spec_.names.other_base) + name.substr(name.starts_with(base) ? base.size() : 0);
  const std::string& found = checkpoint->contains(name) ? name : other;
  if (!checkpoint->contains(found)) return false;
  const Tensor stored = checkpoint->tensor(found), table = shared.table();
  if (!(stored.shape() == table.shape())) return true;  // told by the one who declares it
  const Tensor words = stored.to(table.dtype());
  if (words.dtype() == DType::F32) return !std::ranges::equal(words.values<float>(), table.values<float>());
  return !std::ranges::equal(words.values<double>(), table.values<double>());
}

void EncoderDecoderModel::add_head(const Weights& root, const Embedding& shared, HeadKind head) {
  const EncoderDecoderHeads& values = spec_.heads;
  if (head == HeadKind::sequence_to_sequence) {
    const Weights w = root / "lm_head";
    const bool own = !spec_.tied || has_own_words(w, shared);
    const Embedding words = own ? Embedding(w, spec_.vocab_size, spec_.hidden_size, {}, spec_.deviation) : shared;
    if (!own) shared.tied(w, "weight");
    Tensor bias;
    if (values.logits_bias)
      bias = root.constant("final_logits_bias", {1, spec_.vocab_size}, Initial::zeros()).as_shape({spec_.vocab_size});
    head_ = std::make_unique<SequenceToSequenceHead>(Linear(words.as_matrix(), bias), values.output_scale);
  }
  if (head == HeadKind::classify) {
    check(!spec_.eos_token_ids.empty(), "config.json has no eos_token_id, by whose state this {} model classifies",
          spec_.model_type);
    head_ = std::make_unique<EndTokenHead>(root / classifier,
                                           EndTokenHead::Values{.hidden = spec_.hidden_size,
                                                                .labels = values.labels,
                                                                .end_token_id = spec_.eos_token_ids.front(),
                                                                .dropout = values.classifier_dropout,
                                                                .deviation = values.deviation});
  }
}

Memory EncoderDecoderModel::encode(const Batch& batch, Observer* observer) const {
  return {states(Stack::encoder, batch, observer, nullptr), batch.offsets};
}

Tensor EncoderDecoderModel::forward(const Batch& batch, const Memory& memory, Observer* observer) const {
  check(!spec_.encoder_alone, "this {} model is an encoder alone: it decodes nothing", facts_.model_type);
  return states(Stack::decoder, batch, observer, &memory);
}

Tensor EncoderDecoderModel::forward(const Batch& batch, Observer* observer) const {
  if (spec_.encoder_alone) return states(Stack::encoder, batch, observer, nullptr);
  check(facts_.head == HeadKind::classify, "a {} model decodes from what its encoder read: give it a source text",
        facts_.model_type);
  return forward(shifted_right(batch), encode(batch, observer), observer);
}

Batch EncoderDecoderModel::shifted_right(const Batch& batch) const {
  std::vector<std::int64_t> ids = batch.ids.to_vector<std::int64_t>();
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    if (batch.offsets.length(s) == 0) continue;
    const auto begin = ids.begin() + batch.offsets.begin(s), end = ids.begin() + batch.offsets.end(s);
    std::rotate(begin, end - 1, end);  // begins with what was last
    if (spec_.begins_with_last_label) continue;
    check(spec_.decoder_start_token_id.has_value(), "config.json has no decoder_start_token_id for a {} decoder",
          facts_.model_type);
    *begin = *spec_.decoder_start_token_id;
  }
  Batch shifted = batch;
  shifted.ids = Tensor::from<std::int64_t>({batch.tokens()}, ids);
  return shifted;
}

bool EncoderDecoderModel::left_out(const Block& block, const Batch& batch) const {
  const double rate = block.place.stack == Stack::decoder ? spec_.decoder_layerdrop : spec_.encoder_layerdrop;
  return rate > 0 && RandomStream(block.place.key(batch, "layerdrop")).uniform() < rate;
}

Tensor EncoderDecoderModel::run_blocks(const StackParts& parts, Tensor x, const Batch& batch, Observer* observer,
                                       const Memory* memory) const {
  const bool norm_follows = !parts.norm.identity();
  const bool all =
      !batch.dropout || std::ranges::none_of(parts.blocks, [&](const Block& block) { return left_out(block, batch); });
  if (all) return run(parts.blocks, x, batch, observer, memory, norm_follows);
  for (const Block& block : parts.blocks) {
    if (!left_out(block, batch)) x = block(x, batch, observer, memory);
    const bool last = &block == &parts.blocks.back();
    if (observer && !(last && norm_follows)) observer->hidden_state(block.place.stack, block.place.layer + 1, x);
  }
  return x;
}

Tensor EncoderDecoderModel::states(Stack which, const Batch& batch, Observer* observer, const Memory* memory) const {
  const bool decoder = which == Stack::decoder;
  const StackParts& parts = decoder ? decoder_ : encoder_;
  Tensor x = parts.words(batch.ids);  // [tokens, hidden]
  if (spec_.embedding_scale != 1) x = scale(x, spec_.embedding_scale);
  if (parts.positions) x = add(x, parts.positions(batch));
  x = batch.dropped(parts.embedding_norm(x), spec_.dropout, batch.site(decoder ? "decoder embeddings" : "embeddings"));
  if (observer) observer->hidden_state(which, 0, x);
  const bool norm_follows = !parts.norm.identity();
  x = parts.norm(run_blocks(parts, x, batch, observer, memory));
  if (spec_.drops_output) x = batch.dropped(x, spec_.dropout, batch.site(decoder ? "decoder output" : "output"));
  if (observer && norm_follows) observer->hidden_state(which, static_cast<int>(parts.blocks.size()), x);
  return x;
}

Architecture encoder_decoder_architecture(Architecture base, EncoderDecoderSpec (*read)(const ConfigReader& config)) {
  base.build = [read](const ConfigReader& config, HeadKind head, WeightSource source) -> std::unique_ptr<Model> {
    ignore_generation_keys(config);
    EncoderDecoderSpec spec = read(config);
    const std::vector<std::string> named = config.strings_or("architectures", {});
    spec.encoder_alone = head == HeadKind::none && !named.empty() && named.front().ends_with("EncoderModel");
    if (!config.flag_or("is_encoder_decoder", true) && !spec.encoder_alone)
      config.reject("is_encoder_decoder", "a model of this model_type has an encoder and a decoder here");
    if (config.flag_or("is_decoder", false)) config.reject("is_decoder", "a decoder alone is not read here");
    return std::make_unique<EncoderDecoderModel>(std::move(spec), head, std::move(source));
  };
  base.output_layer = [](const ConfigReader&, HeadKind head) {
    return head == HeadKind::classify ? std::string(classifier) + ".out_proj" : "";
  };
  return base;
}

void ignore_generation_keys(const ConfigReader& config) {
  config.ignore({"bad_words_ids", "begin_suppress_tokens", "bos_token_id", "diversity_penalty", "do_sample",
                 "early_stopping", "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty",
                 "force_bos_token_to_be_generated", "forced_bos_token_id", "forced_eos_token_id", "length_penalty",
                 "max_length", "min_length", "no_repeat_ngram_size", "num_beam_groups", "num_beams",
                 "num_return_sequences", "output_scores", "remove_invalid_values", "repetition_penalty",
                 "return_dict_in_generate", "sep_token_id", "suppress_tokens", "temperature", "top_k", "top_p",
                 "typical_p",
                 // What a text or a task is prepared by, and what transformers no longer reads.
                 "prefix", "tokenizer_class", "finetuning_task", "output_past", "tf_legacy_loss", "torchscript",
                 "use_bfloat16", "_num_labels", "eos_token_ids"});
}

}  // namespace attune
