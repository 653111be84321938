// BERT: Devlin et al. 2019, "BERT: pre-training of deep bidirectional Transformers". Post-norm, learned positions, two
// segments. Weight names as published on Hugging Face (BertModel, BertForMaskedLM, BertForSequenceClassification).
#include "attune/base/error.h"
#include "attune/models/architecture.h"
#include "attune/models/config_values.h"
#include "attune/nn/embedding.h"
#include "attune/nn/position/learned.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/pooling.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

struct BertConfig {
  std::int64_t vocab_size, hidden_size, layers, heads, intermediate_size, positions, types, pad_token_id, labels;
  Activation activation;
  double hidden_dropout, attention_dropout, classifier_dropout, deviation, epsilon;
  bool tied;
  std::string
      pooling;  // of a sequence to what the pooler reads: the first token as published, or Attune's own mean or max

  static BertConfig read(const ConfigReader& c) {
    BertConfig b;
    b.vocab_size = c.integer_or("vocab_size", 30522, {.at_least = 1});
    b.hidden_size = c.integer_or("hidden_size", 768, {.at_least = 1});
    b.layers = c.integer_or("num_hidden_layers", 12, {.at_least = 1});
    b.heads = c.integer_or("num_attention_heads", 12, {.at_least = 1});
    b.intermediate_size = c.integer_or("intermediate_size", 3072, {.at_least = 1});
    b.positions = c.integer_or("max_position_embeddings", 512, {.at_least = 1});
    b.types = c.integer_or("type_vocab_size", 2, {.at_least = 1});
    b.pad_token_id = c.integer_or("pad_token_id", 0, {.at_least = 0});
    b.labels = label_count(c);
    b.activation = read_activation(c, "hidden_act", "gelu");
    b.hidden_dropout = c.number_or("hidden_dropout_prob", 0.1, {0, 1});
    b.attention_dropout = c.number_or("attention_probs_dropout_prob", 0.1, {0, 1});
    b.classifier_dropout = c.number_or("classifier_dropout", b.hidden_dropout, {0, 1});
    b.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    b.epsilon = c.number_or("layer_norm_eps", 1e-12, {.at_least = 0, .at_most = 1});
    b.tied = c.flag_or("tie_word_embeddings", true);
    b.pooling = c.choice_or("classifier_pooling", "cls", {"cls", "mean", "max"});
    c.choice_or("position_embedding_type", "absolute", {"absolute"});
    c.ignore({"bos_token_id", "eos_token_id", "chunk_size_feed_forward"});
    for (const char* decoder_only : {"is_decoder", "add_cross_attention"})
      if (c.flag_or(decoder_only, false)) c.reject(decoder_only, "BERT is an encoder here");
    if (b.hidden_size % b.heads != 0) c.reject("num_attention_heads", "must divide hidden_size");
    return b;
  }
};

NameRules bert_names() {
  using Place = NameRules::Spelling::Place;
  return {.spellings = {{Place::prefix, "bert.", ""},
                        {Place::suffix, "LayerNorm.weight", "LayerNorm.gamma"},
                        {Place::suffix, "LayerNorm.bias", "LayerNorm.beta"},
                        {Place::suffix, "cls.predictions.bias", "cls.predictions.decoder.bias"}},
          .unused = {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias",
                     "cls.seq_relationship.weight", "cls.seq_relationship.bias", "cls.predictions.bias",
                     "cls.predictions.decoder.weight", "cls.predictions.decoder.bias",
                     "cls.predictions.transform.dense.weight", "cls.predictions.transform.dense.bias",
                     "cls.predictions.transform.LayerNorm.weight", "cls.predictions.transform.LayerNorm.bias",
                     "cls.predictions.transform.LayerNorm.gamma", "cls.predictions.transform.LayerNorm.beta"},
          .may_be_new = {"bert.pooler.", "classifier.", "cls."}};
}

Block bert_block(const Weights& w, const BertConfig& c, int layer) {
  LinearOptions dense{.deviation = c.deviation};
  std::int64_t head_dim = c.hidden_size / c.heads;
  Weights self = w / "attention" / "self", output = w / "attention" / "output";
  return {.attention = {.query = Linear(self / "query", c.hidden_size, c.hidden_size, dense),
                        .key = Linear(self / "key", c.hidden_size, c.hidden_size, dense),
                        .value = Linear(self / "value", c.hidden_size, c.hidden_size, dense),
                        .output = Linear(output / "dense", c.hidden_size, c.hidden_size, dense),
                        .sizes = {c.heads, c.heads, head_dim},
                        .rule = {.mask = bidirectional()},
                        .dropout = c.attention_dropout},
          .attention_norm = Norm::layer(output / "LayerNorm", c.hidden_size, c.epsilon),
          .feedforward = {.up = Linear(w / "intermediate" / "dense", c.hidden_size, c.intermediate_size, dense),
                          .down = Linear(w / "output" / "dense", c.intermediate_size, c.hidden_size, dense),
                          .activation = c.activation},
          .feedforward_norm = Norm::layer(w / "output" / "LayerNorm", c.hidden_size, c.epsilon),
          .order = NormOrder::post,
          .dropout = c.hidden_dropout,
          .place = {Stack::encoder, layer}};
}

/// dense, activation, LayerNorm, then the word embeddings as the output layer (section 3.1, task 1).
class BertMaskedLm : public Head {
 public:
  BertMaskedLm(const Weights& w, const BertConfig& c, const Embedding& words)
      : dense_(w / "transform" / "dense", c.hidden_size, c.hidden_size, {.deviation = c.deviation}),
        norm_(Norm::layer(w / "transform" / "LayerNorm", c.hidden_size, c.epsilon)),
        activation_(c.activation) {
    if (c.tied) {
      Tensor bias = w.parameter("bias", {c.vocab_size}, Initial::zeros());
      words.tied(w, "decoder.weight");
      w.tied("decoder.bias", bias);
      output_ = Linear(words.as_matrix(), bias);
    } else {
      output_ = Linear(w / "decoder", c.hidden_size, c.vocab_size, {.deviation = c.deviation});
    }
  }
  Tensor features(const Tensor& hidden, const Batch&, const std::vector<std::int64_t>* rows) const override {
    return norm_(activation(dense_(pick(hidden, rows)), activation_));
  }
  const Linear& output() const override { return output_; }

 private:
  Linear dense_;
  Norm norm_;
  Activation activation_;
  Linear output_;
};

/// tanh(dense(first token)), dropout, output layer (section 3.2); chunks of one document are averaged before the output
/// layer.
class BertClassification : public Head {
 public:
  BertClassification(const Weights& model, const Weights& classifier, const BertConfig& c)
      : pooler_(model / "pooler" / "dense", c.hidden_size, c.hidden_size, {.deviation = c.deviation}),
        output_(classifier, c.hidden_size, c.labels, {.deviation = c.deviation}),
        dropout_(c.classifier_dropout),
        pooling_(c.pooling) {}
  Tensor features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>*) const override {
    Tensor summary = pool(hidden, batch);  // [sequences, hidden]
    Tensor pooled = activation(pooler_(summary), Activation::tanh);
    if (batch.dropout && dropout_ > 0)
      pooled = dropout(pooled, dropout_, batch.site("classifier"), first_places(batch));
    return batch.documents ? segment_mean(pooled, *batch.documents) : pooled;  // [documents, hidden]
  }
  const Linear& output() const override { return output_; }
  bool over_sequences() const override { return true; }

 private:
  Tensor pool(const Tensor& hidden, const Batch& batch) const {
    if (pooling_ == "mean") return segment_mean(hidden, batch.offsets);
    return pooling_ == "max" ? segment_max(hidden, batch.offsets) : first_tokens(hidden, batch);
  }

  Linear pooler_, output_;
  double dropout_;
  std::string pooling_;
};

class Bert : public Model {
 public:
  Bert(const BertConfig& c, HeadKind head, WeightSource source) : Model(std::move(source), bert_names()), config_(c) {
    Weights root(parameters_), w = root / "bert", embeddings = w / "embeddings";
    words_ = Embedding(embeddings / "word_embeddings", c.vocab_size, c.hidden_size, c.pad_token_id, c.deviation);
    positions_ = LearnedPositions(embeddings / "position_embeddings", c.positions, c.hidden_size, c.deviation);
    types_ = Embedding(embeddings / "token_type_embeddings", c.types, c.hidden_size, {}, c.deviation);
    norm_ = Norm::layer(embeddings / "LayerNorm", c.hidden_size, c.epsilon);
    for (int i = 0; i < c.layers; ++i) layers_.push_back(bert_block(w / "encoder" / "layer" / i, c, i));
    if (head == HeadKind::masked_lm) head_ = std::make_unique<BertMaskedLm>(root / "cls" / "predictions", c, words_);
    if (head == HeadKind::classify) head_ = std::make_unique<BertClassification>(w, root / "classifier", c);
    facts_ = {.model_type = "bert",
              .head = head,
              .vocab_size = c.vocab_size,
              .hidden_size = c.hidden_size,
              .layers = c.layers,
              .longest = c.positions,
              .pad_token_id = c.pad_token_id};
  }
  const ModelFacts& facts() const override { return facts_; }

  Tensor forward(const Batch& batch, Observer* observer) const override {
    Tensor types = batch.type_ids.defined() ? batch.type_ids : Tensor::zeros({batch.tokens()}, DType::I64);
    Tensor x = norm_(add(add(words_(batch.ids), types_(types)), positions_(batch)));  // [tokens, hidden]
    x = batch.dropped(x, config_.hidden_dropout, batch.site("embeddings"));
    if (observer) observer->hidden_state(Stack::encoder, 0, x);
    return run(layers_, x, batch, observer);
  }

 private:
  BertConfig config_;
  ModelFacts facts_;
  Embedding words_, types_;
  LearnedPositions positions_;
  Norm norm_;
  std::vector<Block> layers_;
};

const RegisterArchitecture bert({
    .model_type = "bert",
    .classes = {{"BertModel", HeadKind::none},
                {"BertForMaskedLM", HeadKind::masked_lm},
                {"BertForSequenceClassification", HeadKind::classify}},
    .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout"},
    .build = [](const ConfigReader& config, HeadKind head, WeightSource source) -> std::unique_ptr<Model> {
      return std::make_unique<Bert>(BertConfig::read(config), head, std::move(source));
    },
});

}  // namespace

}  // namespace attune
