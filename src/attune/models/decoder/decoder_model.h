#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attune/models/architecture.h"
#include "attune/nn/position/rotary.h"

namespace attune {

/// What a decoder's published files call its parts. "model.layers.0...": base "model", layers "layers".
struct DecoderNames {
  std::string base = "model";  // of all but the head; some files leave it out
  std::string words = "embed_tokens", layers = "layers", norm = "norm", embedding_norm = "", head = "lm_head";
  std::string tag = "score", answer = "qa_outputs";  // the output layers of these heads
  std::string project_in = "project_in", project_out = "project_out";
  std::vector<std::string> unused = {};             // name endings that files hold and the model does not use
  std::vector<NameRules::Spelling> spellings = {};  // beside the base left out
  std::vector<NameRules::Stacked> stacked = {};     // experts' matrices in one tensor
};

/// A decoder-only architecture as values: its file reads config.json into this, and DecoderModel is built from it.
struct DecoderSpec {
  std::string model_type;
  DecoderNames names = {};
  std::int64_t vocab_size = 0, hidden_size = 0, layers = 0;
  AttentionSizes attention = {};  // of every block
  double deviation = 0.02;        // of new weights
  std::optional<std::int64_t> longest = {}, pad_token_id = {};
  std::vector<std::int64_t> eos_token_ids = {};
  bool padding_learns = false;  // look-ups of the padding token give its row a gradient
  std::int64_t labels = 2;      // of a classifier
  double tag_dropout = 0.1;     // of what a tagger's output layer reads

  /// A block, from the weights of its layer.
  std::function<Block(const Weights& layer, Place place)> block;
  /// The final norm, and that of the embeddings (BLOOM's); none: the identity.
  std::function<Norm(const Weights&w)> norm = {}, embedding_norm = {};
  /// What learned positions add to the embeddings, [tokens, hidden]; its weights are declared under the base.
  std::function<std::function<Tensor(const Batch&)>(const Weights& base)> positions = {};
  /// The tables by which blocks turn queries and keys (MultiHead::rotary).
  std::vector<RopeConfig> rope = {};
  double embedding_scale = 1;  // of the words' vectors, before positions
  double embedding_dropout = 0;
  /// Words' vectors and what the head reads are of another width than the blocks, with a matrix between (OPT 350m); 0:
  /// they are not.
  std::int64_t embedding_size = 0;

  bool tied = false;  // the head's weight is the embedding's
  CausalLmOptions head = {};
  double router_loss = 0;  // how much of balance_loss() joins a language model's loss; 0: none
};

/// A query sees the last `window` tokens up to its own; 0: all of them.
AttentionMask causal_within(std::int64_t window);

/// embeddings -> blocks -> norm -> head (Radford et al. 2018).
class DecoderModel : public Model {
 public:
  DecoderModel(DecoderSpec spec, HeadKind head, WeightSource source);

  const ModelFacts& facts() const override { return facts_; }
  Tensor forward(const Batch& batch, Observer* observer) const override;
  const std::vector<Block>& decoding_blocks() const override { return layers_; }

 private:
  DecoderSpec spec_;
  ModelFacts facts_;
  Embedding words_;
  Norm embedding_norm_, norm_;
  std::function<Tensor(const Batch&)> positions_;
  std::optional<Linear> project_in_, project_out_;
  std::vector<Block> layers_;
};

/// How an architecture's file registers a decoder.
///
///   const RegisterArchitecture llama(decoder_architecture(
///       {.model_type = "llama", .dropout_keys = {"attention_dropout"}}, "Llama", read_llama));
///
/// Gives it the classes that transformers has for most: LlamaModel, LlamaForCausalLM, LlamaForSequenceClassification,
/// LlamaForTokenClassification, LlamaForQuestionAnswering, unless `base` names its own.
Architecture decoder_architecture(Architecture base, const std::string& class_prefix,
                                  DecoderSpec (*read)(const ConfigReader& config));

}  // namespace attune
