// Nystromformer: Xiong et al. 2021, "Nystromformer: a Nystrom-based algorithm for approximating self-attention". BERT
// whose attention goes through landmarks, with a convolution of the values along the sequence added. Weight names as
// published on Hugging Face. Surprises there: it takes sequences of segment_means_seq_len tokens alone, shorter ones
// padded to it with padding in the landmarks; here nothing is padded, segments divide the tokens that there are, and
// sequences of that length have its numbers. One first guess of the inverse serves all heads (and there all sequences
// of a batch; here those of its own sequence). Attention's weights are not dropped from. With as many landmarks as
// segment_means_seq_len, attention is exact. Positions begin at row 2 of their table.
#include <cmath>

#include "attune/models/encoder/bert_family.h"
#include "attune/models/encoder/counted_positions.h"
#include "attune/nn/attention/families/nystromformer.h"
#include "attune/nn/attention/family.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/sequence_convolution.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

struct NystromConfig : BertFamily {
  std::int64_t landmarks = 64, whole = 64, kernel = 65;

  static NystromConfig read(const ConfigReader& c) {
    NystromConfig n{BertFamily::read(c, {.vocab_size = 30000,
                                         .positions = 510,
                                         .pad_token_id = 1,
                                         .activation = Activation::gelu_tanh,
                                         .epsilon = 1e-5})};
    n.landmarks = c.integer_or("num_landmarks", 64, {.at_least = 1, .at_most = 1 << 20});
    n.whole = c.integer_or("segment_means_seq_len", 64, {.at_least = 1, .at_most = 1 << 28});
    if (n.whole % n.landmarks != 0) c.reject("num_landmarks", "must divide segment_means_seq_len");
    n.kernel = c.integer_or("conv_kernel_size", 65, {.at_least = 1, .at_most = 1 << 16});
    if (n.kernel % 2 == 0) c.reject("conv_kernel_size", "must be odd");
    if (c.flag_or("inv_coeff_init_option", false))
      c.reject("inv_coeff_init_option", "published code has the first guess of all heads together alone");
    c.ignore({"inv_init_coeff_option", "classifier_dropout", "position_embedding_type"});
    return n;
  }
};

class PublishedNystrom : public AttentionFamily {
 public:
  PublishedNystrom(const NystromConfig& n, const Weights& self)
      : landmarks_(n.landmarks), exact_(n.landmarks == n.whole) {
    // Filters begin as wide as PyTorch's Conv2d makes them.
    filters_ = (self / "conv")
                   .parameter("weight", {n.heads, 1, n.kernel, 1},
                              Initial::normal(1 / std::sqrt(3.0 * static_cast<double>(n.kernel))));
  }
  Tensor mix(const Input& in) const override {
    const Tensor filters = reshape(filters_, {filters_.dim(0), filters_.dim(2)});
    if (!exact_)
      return nystrom_attention(in.q, in.k, in.v, in.batch.offsets,
                               {.landmarks = landmarks_, .filters = filters, .guess = InverseGuess::together});
    AttentionRule all = in.rule;
    all.dropout = {};
    return add(attention(in.q, in.k, in.v, AttentionSequences::of(in.batch.offsets), all),
               sequence_convolution(in.v, filters, in.batch.offsets));
  }

 private:
  std::int64_t landmarks_;
  bool exact_;
  Tensor filters_;  // [heads, 1, kernel, 1]
};

EncoderSpec read_nystromformer(const ConfigReader& c) {
  const NystromConfig n = NystromConfig::read(c);
  EncoderSpec spec = n.spec("nystromformer", "nystromformer");
  spec.positions = [n](const Weights& base) {
    const PositionCount count{.rows = n.positions + 2, .first = 2};
    return counted_positions(base / "embeddings.position_embeddings", count, n.hidden_size, n.deviation);
  };
  spec.blocks = [n](const Weights&, HeadKind) -> BlockOf {
    return [n](const Weights& w, Place place) {
      Block block = n.block(w, place);
      block.attention.family = std::make_shared<PublishedNystrom>(n, w / "attention.self");
      return block;
    };
  };
  spec.heads = {{HeadKind::masked_lm, n.masked_lm("cls.predictions", "transform.dense", "transform.LayerNorm")},
                {HeadKind::classify, classifier_of_two_layers(n.activation, n.hidden_dropout)},
                {HeadKind::tag, output_alone("classifier", n.hidden_dropout)},
                {HeadKind::answer, output_alone("qa_outputs", 0)}};
  return spec;
}

const RegisterArchitecture nystromformer_(encoder_architecture(
    {.model_type = "nystromformer", .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob"}},
    "Nystromformer", read_nystromformer));

}  // namespace

}  // namespace attune
