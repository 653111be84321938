#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attune/models/architecture.h"
#include "attune/models/heads.h"
#include "attune/nn/position/rotary.h"

namespace attune {

/// What an encoder's published files call its parts. "bert.encoder.layer.0...": base "bert", layers "encoder.layer".
struct EncoderNames {
  std::string base = "bert";  // of all but the heads; some files leave it out
  std::string words = "embeddings.word_embeddings", types = "embeddings.token_type_embeddings";
  std::string embedding_norm = "embeddings.LayerNorm", projection = "embeddings_project";
  std::string layers = "encoder.layer", norm = "";
  /// What the last parts of norms' names are: some files call their weight gamma and their bias beta.
  std::vector<std::string> norms = {"LayerNorm"};
  /// Name endings that files hold and the model does not use.
  std::vector<std::string> unused = {".position_ids", ".token_type_ids", "pooler.dense.weight", "pooler.dense.bias"};
};

/// What becomes of the sum of a token's vectors before the first block, in an architecture's order.
enum class EmbeddingStep { norm, dropout, project };

using BlockOf = std::function<Block(const Weights& layer, Place place)>;

/// An encoder as values: its file reads config.json into this, and EncoderModel is built from it.
struct EncoderSpec {
  std::string model_type;
  EncoderNames names = {};
  std::int64_t vocab_size = 0, hidden_size = 0, layers = 0;
  std::int64_t types = 0;           // kinds of text that tokens may be of; 0: tokens' types are not looked at
  std::int64_t embedding_size = 0;  // of the tokens' vectors, where they are projected to hidden_size; 0: hidden_size
  bool projection_bias = true;
  double deviation = 0.02;  // of new weights
  std::optional<std::int64_t> longest = {}, pad_token_id = {};
  std::vector<std::int64_t> eos_token_ids = {};
  std::optional<std::int64_t> padding_row = {};  // of the words' table: look-ups give it no gradient

  /// What the words' vectors become before anything is added to them (ESM's token dropout, BigBird's scale).
  std::function<Tensor(const Tensor& words, const Batch& batch)> rescaled = {};
  /// What learned positions add, [tokens, embedding_size]; its weights are declared under the base.
  std::function<std::function<Tensor(const Batch&)>(const Weights& base)> positions = {};
  std::vector<EmbeddingStep> embedding_steps = {EmbeddingStep::norm, EmbeddingStep::dropout};
  std::function<Norm(const Weights&w)> embedding_norm = {}, norm = {};  // norm: after the last block; none: identity
  double embedding_dropout = 0;

  /// Given the base, where what blocks share is declared, how a block is made from the weights of its layer. A head may
  /// change what its attention sees (Longformer's global tokens).
  std::function<BlockOf(const Weights& base, HeadKind head)> blocks;
  /// The names of layers under the base, where they are not names.layers with a number: layers of one name share their
  /// weights (ALBERT).
  std::function<std::string(int layer)> layer_name = {};
  /// The tables by which blocks turn queries and keys (MultiHead::rotary).
  std::vector<RopeConfig> rope = {};
  /// Names under the base of frequencies that files may hold: the first one there takes the place of rope[0]'s.
  std::vector<std::string> frequencies = {};

  bool tied = true;                           // a masked language model's output weight is the words' table
  std::map<HeadKind, HeadLayers> heads = {};  // hidden and outputs are filled in
};

/// embeddings -> blocks -> norm -> head (Devlin et al. 2019).
class EncoderModel : public Model {
 public:
  EncoderModel(EncoderSpec spec, HeadKind head, WeightSource source);

  const ModelFacts& facts() const override { return facts_; }
  Tensor forward(const Batch& batch, Observer* observer) const override;

 private:
  void build_embeddings(const Weights& base);
  void build_blocks(const Weights& base, HeadKind head);
  void read_frequencies(const Weights& base);
  Tensor types_of(const Batch& batch) const;  // [tokens]
  Tensor embedded(const Batch& batch) const;  // [tokens, hidden]

  EncoderSpec spec_;
  ModelFacts facts_;
  Embedding words_;
  std::optional<Embedding> types_;
  std::optional<Linear> projection_;
  Norm embedding_norm_, norm_;
  std::function<Tensor(const Batch&)> positions_;
  std::vector<Block> layers_;
};

/// How an architecture's file registers an encoder.
///
///   const RegisterArchitecture bert(encoder_architecture({.model_type = "bert", .dropout_keys = {...}}, "Bert",
///                                                        read_bert));
///
/// Adds to base.classes the classes that transformers has for it: BertModel, BertForMaskedLM,
/// BertForSequenceClassification, BertForTokenClassification, BertForQuestionAnswering. A head that the spec does not
/// describe is an Error.
Architecture encoder_architecture(Architecture base, const std::string& class_prefix,
                                  EncoderSpec (*read)(const ConfigReader& config));

}  // namespace attune
