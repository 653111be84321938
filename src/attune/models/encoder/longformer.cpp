// Longformer: Beltagy et al. 2020, "Longformer: the long-document transformer". RoBERTa whose tokens see a window, but
// for global tokens, which see all and are seen by all, with projections of their own. Weight names as published on
// Hugging Face. Which tokens are global follows from the head there: the first one for classification, the question
// (all before the first of exactly three separators) for answering, none for other heads, whose files hold the global
// projections all the same.
#include <algorithm>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/models/encoder/bert_family.h"
#include "attune/models/encoder/counted_positions.h"
#include "attune/nn/attention/family.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// How many of a sequence's first tokens are global.
using GlobalTokens = std::function<std::int64_t(const Batch& batch, std::int64_t sequence)>;

std::int64_t global_question(const Batch& batch, std::int64_t s, std::int64_t separator) {
  const auto ids = ids_of(batch, s);
  const std::int64_t found = std::ranges::count(ids, separator);
  check(
      found == 3,
      "answering with Longformer: sequence {} of the batch has {} separators (token {}): expected 3, a question and a "
      "text as <s> question </s></s> text </s>",
      s, found, separator);
  return std::ranges::find(ids, separator) - ids.begin();
}

class LongformerAttention : public AttentionFamily {
 public:
  LongformerAttention(const Weights& self, const BertFamily& b, GlobalTokens globals)
      : query_(projection(self / "query_global", b)),
        key_(projection(self / "key_global", b)),
        value_(projection(self / "value_global", b)),
        globals_(std::move(globals)) {}

  Tensor mix(const Input& in) const override {
    if (!globals_) return attention(in.q, in.k, in.v, of(in, in.batch.offsets, {}), in.rule);
    const Offsets& tokens = in.batch.offsets;
    std::vector<std::int64_t> counts, rows, firsts;  // of global tokens
    std::vector<std::vector<std::int64_t>> kinds;    // of each sequence's tokens: 0 is global
    for (std::int64_t s = 0; s < tokens.count(); ++s) {
      const std::int64_t count = std::min(globals_(in.batch, s), tokens.length(s));
      counts.push_back(count);
      firsts.push_back(0);
      for (std::int64_t i = 0; i < count; ++i) rows.push_back(tokens.begin(s) + i);
      kinds.emplace_back(static_cast<std::size_t>(tokens.length(s)), 1);
      std::fill_n(kinds.back().begin(), count, 0);
    }
    AttentionRule nearby = in.rule;
    nearby.mask = in.rule.mask | cross_modal(kinds, {{true, false}, {true, false}});  // all see the global keys
    const Tensor local = attention(in.q, in.k, in.v, of(in, tokens, {}), nearby);
    AttentionRule everywhere = in.rule;
    everywhere.mask = bidirectional();
    const Tensor chosen = select_rows(in.x, Tensor::from<std::int64_t>({static_cast<std::int64_t>(rows.size())}, rows));
    const AttentionSequences whole = of(in, Offsets::from_lengths(counts), firsts);
    const Tensor global = attention(heads_of(query_(chosen), in.q), heads_of(key_(in.x), in.k),
                                    heads_of(value_(in.x), in.v), whole, everywhere);
    return overwritten(local, global, rows);
  }

 private:
  static Linear projection(const Weights& w, const BertFamily& b) {
    return Linear(w, b.hidden_size, b.hidden_size, {.deviation = b.deviation});
  }
  static Tensor heads_of(const Tensor& x, const Tensor& like) {
    return reshape(x, {x.dim(0), like.dim(1), like.dim(2)});
  }
  static AttentionSequences of(const Input& in, const Offsets& queries, std::vector<std::int64_t> firsts) {
    return {queries, in.batch.offsets, std::move(firsts), in.batch.examples};
  }
  /// `local` with its rows `at` replaced.
  static Tensor overwritten(const Tensor& local, const Tensor& rows, const std::vector<std::int64_t>& at) {
    std::vector<std::int64_t> from(static_cast<std::size_t>(local.dim(0)));
    for (std::size_t t = 0; t < from.size(); ++t) from[t] = static_cast<std::int64_t>(t);
    for (std::size_t i = 0; i < at.size(); ++i)
      from[static_cast<std::size_t>(at[i])] = local.dim(0) + static_cast<std::int64_t>(i);
    return select_rows(concatenate_rows({local, rows}), Tensor::from<std::int64_t>({local.dim(0)}, from));
  }

  Linear query_, key_, value_;
  GlobalTokens globals_;
};

GlobalTokens globals_for(HeadKind head, std::int64_t separator) {
  if (head == HeadKind::classify) return [](const Batch&, std::int64_t) { return std::int64_t{1}; };
  if (head != HeadKind::answer) return {};
  return [separator](const Batch& batch, std::int64_t s) { return global_question(batch, s, separator); };
}

/// "attention_window": one for all layers, or a list of one for each; even, half to each side.
std::vector<std::int64_t> read_windows(const ConfigReader& c, std::int64_t layers) {
  std::vector<std::int64_t> windows;
  if (c.has("attention_window") && c.raw("attention_window").is_array())
    for (double window : c.numbers_or("attention_window", {})) windows.push_back(static_cast<std::int64_t>(window));
  else
    windows.assign(static_cast<std::size_t>(layers), c.integer_or("attention_window", 512));
  if (static_cast<std::int64_t>(windows.size()) != layers) c.reject("attention_window", "expected one for each layer");
  for (std::int64_t window : windows)
    if (window <= 0 || window % 2 != 0) c.reject("attention_window", "expected even numbers above 0");
  return windows;
}

EncoderSpec read_longformer(const ConfigReader& c) {
  const BertFamily b = BertFamily::read(c, {.pad_token_id = 1});
  c.choice_or("attention_mode", "longformer", {"longformer"});
  c.choice_or("position_embedding_type", "absolute", {"absolute"});
  if (c.flag_or("ignore_attention_mask", false)) c.reject("ignore_attention_mask", "no code reads it any more");
  c.ignore({"onnx_export", "classifier_dropout"});
  const std::vector<std::int64_t> windows = read_windows(c, b.layers);
  const std::int64_t separator = c.integer_or("sep_token_id", 2);
  const auto count = PositionCount::behind_padding(b.positions, *b.pad_token_id);
  if (count.longest() < 1) c.reject("max_position_embeddings", "positions begin behind pad_token_id: give more");
  EncoderSpec spec = b.spec("longformer", "longformer");
  spec.longest = count.longest();
  spec.positions = [b, count](const Weights& base) {
    return counted_positions(base / "embeddings.position_embeddings", count, b.hidden_size, b.deviation);
  };
  spec.blocks = [b, windows, separator](const Weights&, HeadKind head) -> BlockOf {
    return [b, windows, globals = globals_for(head, separator)](const Weights& w, Place place) {
      Block block = b.block(w, place);
      const std::int64_t side = windows[static_cast<std::size_t>(place.layer)] / 2;
      block.attention.rule.mask = window(side, side);
      block.attention.family = std::make_shared<LongformerAttention>(w / "attention.self", b, globals);
      return block;
    };
  };
  HeadLayers masked = b.masked_lm("lm_head", "dense", "layer_norm");
  masked.activation = Activation::gelu;  // whatever hidden_act is
  spec.names.norms.push_back("layer_norm");
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier_of_two_layers(Activation::tanh, b.hidden_dropout)},
                {HeadKind::tag, output_alone("classifier", b.hidden_dropout)},
                {HeadKind::answer, output_alone("qa_outputs", 0)}};
  return spec;
}

const RegisterArchitecture longformer_(encoder_architecture({.model_type = "longformer",
                                                             .reads_separator = true,
                                                             .dropout_keys = {"hidden_dropout_prob",
                                                                              "attention_probs_dropout_prob"}},
                                                            "Longformer", read_longformer));

}  // namespace

}  // namespace attune
