// BigBird: Zaheer et al. 2020, "Big Bird: transformers for longer sequences". BERT whose blocks of tokens see their
// neighbours, the first and the last block. Weight names as published on Hugging Face. Surprises there: embeddings are
// normed after their dropout; sequences of up to (5 + 2 num_random_blocks) blocks have full attention (and every one
// that such a model reads after one of those; here each goes by its own length); outside of training the random blocks
// are all the first one, so that most tokens count its keys 1 + num_random_blocks times, and here they do so in
// training, too; sparse attention's weights are not dropped from. Sequences are filled up to whole blocks there, which
// changes nothing. The head that answers has a feedforward block of its own and lets no answer lie in the question,
// which ends with the first sep_token_id; by that, too, its texts have types where none are given.
#include <cmath>

#include "attune/models/encoder/bert_family.h"
#include "attune/nn/attention/family.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

struct SparseBlocks {
  std::int64_t size = 64, random = 3;

  std::int64_t longest_full() const { return (5 + 2 * random) * size; }
};

/// x [tokens, heads, dim] with one more value for each token, the same for all heads: [tokens, heads, dim + 1].
Tensor with_value(const Tensor& x, const std::vector<double>& values) {
  const std::int64_t tokens = x.dim(0), heads = x.dim(1);
  std::vector<double> all;  // [heads, tokens]
  for (std::int64_t h = 0; h < heads; ++h) all.insert(all.end(), values.begin(), values.end());
  const Tensor more = Tensor::from<double>({1, heads, tokens}, all).to(x.dtype());
  return contiguous(transposed(concatenate_rows({contiguous(transposed(x, 0, 2)), more}), 0, 2));
}

class BlockSparse : public AttentionFamily {
 public:
  explicit BlockSparse(const SparseBlocks& blocks)
      : blocks_(blocks),
        mask_(bigbird({.block = blocks.size, .window_blocks = 3, .global_blocks = 1, .random_blocks = 0})) {}

  /// Sequence by sequence, as each one's length asks: what is large is within a sequence.
  Tensor mix(const Input& in) const override {
    std::vector<Tensor> parts;
    const Offsets& tokens = in.batch.offsets;
    for (std::int64_t s = 0; s < tokens.count(); ++s) {
      const auto own = [&](const Tensor& x) { return row_range(x, tokens.begin(s), tokens.end(s)); };
      AttentionSequences one = AttentionSequences::of(Offsets::single(tokens.length(s)));
      one.examples.assign(1, in.batch.examples[static_cast<std::size_t>(s)]);
      parts.push_back(tokens.length(s) <= blocks_.longest_full()
                          ? attention(own(in.q), own(in.k), own(in.v), one, in.rule)
                          : sparse(own(in.q), own(in.k), own(in.v), one));
    }
    return parts.empty() ? in.q : concatenate_rows(parts);
  }

 private:
  Tensor sparse(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSequences& one) const {
    // A key that counts n times has log n more in its score. Queries have 1 in one more dimension where they count so,
    // keys the logarithm, which the scale does not reach.
    const std::int64_t length = q.dim(0), last = (length - 1) / blocks_.size;
    const double root = std::sqrt(static_cast<double>(q.dim(2)));
    std::vector<double> counts, more;  // [tokens]
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t block = t / blocks_.size;
      counts.push_back(block > 0 && block < last ? 1 : 0);
      more.push_back(block == 0 ? std::log(1.0 + static_cast<double>(blocks_.random)) * root : 0);
    }
    return attention(with_value(q, counts), with_value(k, more), v, one, {.mask = mask_, .scale = 1 / root});
  }

  SparseBlocks blocks_;
  AttentionMask mask_;
};

HeadLayers answerer(const BertFamily& b, std::int64_t separator) {
  return {.dense = "qa_classifier.intermediate.dense",
          .back = "qa_classifier.output.dense",
          .norm = "qa_classifier.output.LayerNorm",
          .output = "qa_classifier.qa_outputs",
          .activation = b.activation,
          .width = b.intermediate_size,
          .epsilon = b.epsilon,
          .dropout_before = b.hidden_dropout,
          .dropout_back = b.hidden_dropout,
          .question_end = separator};
}

EncoderSpec read_big_bird(const ConfigReader& c) {
  BertFamily b = BertFamily::read(c, {.vocab_size = 50358, .positions = 4096, .activation = Activation::gelu_tanh});
  c.choice_or("position_embedding_type", "absolute", {"absolute"});
  b.query_key_value_bias = c.flag_or("use_bias", true);
  const double dropout = c.number_or("classifier_dropout", b.hidden_dropout, {0, 1});
  const std::int64_t separator = c.integer_or("sep_token_id", 66);
  const SparseBlocks blocks{.size = c.integer_or("block_size", 64, {.at_least = 1, .at_most = 1 << 20}),
                            .random = c.integer_or("num_random_blocks", 3, {.at_least = 0, .at_most = 1 << 20})};
  const bool sparse =
      c.choice_or("attention_type", "block_sparse", {"block_sparse", "original_full"}) == "block_sparse";
  EncoderSpec spec = b.spec("big_bird", "bert");
  spec.names.unused = {".position_ids",
                       ".token_type_ids",
                       "pooler.weight",
                       "pooler.bias",
                       "cls.seq_relationship.weight",
                       "cls.seq_relationship.bias"};
  spec.embedding_steps = {EmbeddingStep::dropout, EmbeddingStep::norm};
  if (c.flag_or("rescale_embeddings", false))
    spec.rescaled = [root = std::sqrt(static_cast<double>(b.hidden_size))](const Tensor& words, const Batch&) {
      return scale(words, root);
    };
  spec.blocks = [b, blocks, sparse](const Weights&, HeadKind) -> BlockOf {
    return [b, family = sparse ? std::make_shared<BlockSparse>(blocks) : nullptr](const Weights& w, Place place) {
      Block block = b.block(w, place);
      block.attention.family = family;
      return block;
    };
  };
  spec.heads = {{HeadKind::masked_lm, b.masked_lm("cls.predictions", "transform.dense", "transform.LayerNorm")},
                {HeadKind::classify, classifier_of_two_layers(b.activation, dropout)},
                {HeadKind::tag, output_alone("classifier", dropout)},
                {HeadKind::answer, answerer(b, separator)}};
  return spec;
}

// A pretraining file's other head, of next sentences, is left out.
const RegisterArchitecture big_bird(encoder_architecture(
    {.model_type = "big_bird",
     .classes = {{"BigBirdForPreTraining", HeadKind::masked_lm}},
     .reads_separator = true,
     .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout"}},
    "BigBird", read_big_bird));

}  // namespace

}  // namespace attune
