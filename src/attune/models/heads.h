#pragma once

#include <memory>
#include <string>

#include "attune/models/head.h"
#include "attune/nn/norm/norm.h"
#include "attune/ops/activation.h"

namespace attune {

/// What a head over sequences makes of each one's tokens.
enum class Pooling { first_token, mean, max };

/// A head as values. What it reads of the final hidden states goes through
///   dropout -> dense -> activation -> norm -> dropout -> output layer,
/// and what has no name is left out. With `back`, a feedforward block stands in front of the output layer:
///   dropout -> dense -> activation -> back -> dropout -> added to the states -> norm -> dropout -> output layer.
/// Names count from the top of the file: "cls.predictions.transform.dense".
struct HeadLayers {
  std::string dense = "", back = "", norm = "", output = "";
  /// Of a masked language model: the name of the output's bias where its weight is the embedding's, and where it is
  /// not; "": it has none. Other heads have a bias beside the output's weight.
  std::string tied_bias = "", untied_bias = "";
  Activation activation = Activation::tanh;  // of dense
  bool dense_bias = true, norm_bias = true;
  std::int64_t hidden = 0, width = 0, outputs = 0;  // of the states; of what dense gives (0: hidden); of the logits
  double epsilon = 1e-12, deviation = 0.02;
  double dropout_before = 0, dropout_back = 0, dropout = 0;
  Pooling pooling = Pooling::first_token;
  /// Of a head that answers: a question ends with its first token of this id (question_length()), and no answer lies in
  /// it. Its logits but the first token's, which stands for no answer, are less by 10^6.
  std::optional<std::int64_t> question_end = {};

  std::int64_t dense_width() const { return width > 0 ? width : hidden; }
  std::int64_t output_width() const { return back.empty() ? dense_width() : hidden; }
  bool two_biases() const { return !tied_bias.empty() && !untied_bias.empty() && tied_bias != untied_bias; }
};

/// What a head does before its output layer.
class HeadStack {
 public:
  HeadStack(const Weights& root, const HeadLayers& layers);
  /// x: [rows, hidden], whose random numbers are those of `places`. Returns [rows, output_width].
  Tensor operator()(const Tensor& x, const Batch& batch, const TokenPlaces& places) const;

 private:
  std::optional<Linear> dense_, back_;
  Norm norm_;
  Activation activation_;
  double dropout_before_, dropout_back_, dropout_;
};

/// Predicts the tokens that are masked (Devlin et al. 2019, section 3.1, task 1).
class MaskedTokenHead : public Head {
 public:
  /// `tied`: the embedding whose table is the output layer's weight; null: a weight of its own.
  MaskedTokenHead(const Weights& root, const HeadLayers& layers, const Embedding* tied);
  Tensor features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>* rows) const override;
  const Linear& output() const override { return output_; }

 private:
  HeadStack stack_;
  Linear output_;
};

/// A class for each sequence. Chunks of one document are averaged before the output layer.
class SequenceHead : public Head {
 public:
  SequenceHead(const Weights& root, const HeadLayers& layers);
  Tensor features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>*) const override;
  const Linear& output() const override { return output_; }
  bool over_sequences() const override { return true; }

 private:
  HeadStack stack_;
  Linear output_;
  Pooling pooling_;
};

/// A class for each token.
class TagHead : public Head {
 public:
  TagHead(const Weights& root, const HeadLayers& layers);
  Tensor features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>* rows) const override;
  const Linear& output() const override { return output_; }

 private:
  HeadStack stack_;
  Linear output_;
};

/// Where an answer begins and ends among a sequence's tokens (Devlin et al. 2019, section 4.2): two logits a token, and
/// two softmaxes over the sequence. Features are of all tokens, whatever rows are asked for.
class AnswerHead : public Head {
 public:
  AnswerHead(const Weights& root, HeadLayers layers);
  Tensor features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>*) const override;
  const Linear& output() const override { return output_; }
  Tensor logits_of(const Tensor& features, const Batch& batch) const override;
  /// labels: [sequences, 2] I64, of each the first and the last token of its answer. The mean over both and all
  /// sequences, ignored ones left out.
  Tensor loss_of(const Tensor& features, const Batch& batch, const Tensor& labels,
                 const CrossEntropyOptions& options) const override;

 private:
  HeadStack stack_;
  Linear output_;
  std::optional<std::int64_t> question_end_;
};

/// The head of that kind over `layers`; null for none. `words`: the embedding that a masked language model's output is
/// tied to; null: it is not. Throws Error for kinds that no HeadLayers describe.
std::unique_ptr<Head> make_head(HeadKind kind, const Weights& root, const HeadLayers& layers, const Embedding* words);

}  // namespace attune
