#pragma once

#include <optional>
#include <span>
#include <vector>

#include "attune/nn/batch.h"
#include "attune/nn/embedding.h"

namespace attune {

/// What a model is asked for; each is a head, named in config.json's `architectures` ("BertForMaskedLM").
enum class HeadKind { none, masked_lm, causal_lm, classify, sequence_to_sequence, tag, answer };

/// What turns hidden states into logits: features (rows picked and transformed), then one output layer.
class Head {
 public:
  virtual ~Head() = default;

  /// What the output layer sees. `rows`: the tokens wanted, all if null; a head that pools sequences ignores it.
  /// Returns [rows, width] for heads over tokens, [sequences, width] for those over sequences.
  virtual Tensor features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>* rows) const = 0;
  virtual const Linear& output() const = 0;
  /// Labels of causal models come unshifted: token t is asked for t + 1's.
  virtual bool shifts_labels() const { return false; }
  /// A head over whole sequences (classification) has a label each, one over tokens a label a token.
  virtual bool over_sequences() const { return false; }

  /// Logits beyond it are bent: cap tanh(logit / cap) (Gemma 2). None: they are the output layer's.
  virtual std::optional<double> logit_cap() const { return {}; }

  /// The output layer on features() of `batch`, bent where there is a cap, or as a head says otherwise. [rows, outputs]
  virtual Tensor logits_of(const Tensor& features, const Batch& batch) const;
  Tensor logits(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>* rows = nullptr) const {
    return logits_of(features(hidden, batch, rows), batch);
  }
  /// Mean cross-entropy of those logits, which are of `batch`. labels: [rows] I64, or as a head says otherwise
  virtual Tensor loss_of(const Tensor& features, const Batch& batch, const Tensor& labels,
                         const CrossEntropyOptions& options) const;
};

/// How a causal model's logits follow from its final hidden states.
struct CausalLmOptions {
  bool bias = false;
  double deviation = 0.02;  // of new weights
  double scale = 1;         // of all logits (Cohere, Granite)
  std::optional<double> logit_cap = {};
};

/// One linear layer from the final hidden states to the vocabulary, its labels shifted by one (Radford et al. 2019).
class CausalLmHead : public Head {
 public:
  CausalLmHead(const Weights& w, std::int64_t hidden, std::int64_t vocab_size, const CausalLmOptions& options)
      : output_(w, hidden, vocab_size, {.bias = options.bias, .deviation = options.deviation}), options_(options) {}
  /// Tied to the embedding: a file may name the weight again.
  CausalLmHead(const Embedding& words, const Weights& w, const CausalLmOptions& options = {});
  Tensor features(const Tensor& hidden, const Batch&, const std::vector<std::int64_t>* rows) const override;
  const Linear& output() const override { return output_; }
  bool shifts_labels() const override { return true; }
  std::optional<double> logit_cap() const override { return options_.logit_cap; }

 private:
  Linear output_;
  CausalLmOptions options_;
};

/// One linear layer over each sequence's last token, which in a causal model has seen all the others. Chunks of one
/// document are averaged before it.
class LastTokenHead : public Head {
 public:
  LastTokenHead(const Weights& w, std::int64_t hidden, std::int64_t labels, double deviation);
  Tensor features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>*) const override;
  const Linear& output() const override { return output_; }
  bool over_sequences() const override { return true; }

 private:
  Linear output_;
};

/// The rows wanted of [tokens, hidden]; all of them where `rows` is null.
Tensor pick(const Tensor& hidden, const std::vector<std::int64_t>* rows);
/// Each sequence's first token, which BERT-like models make a summary of. [sequences, hidden]; throws Error on an empty
/// sequence.
Tensor first_tokens(const Tensor& hidden, const Batch& batch);
/// Where those tokens stand, for their random numbers.
TokenPlaces first_places(const Batch& batch);

/// The ids of one sequence.
std::span<const std::int64_t> ids_of(const Batch& batch, std::int64_t sequence);
/// How many tokens the question has that a sequence begins with: up to and with the first one of id `end`, 1 where
/// there is none (transformers' BigBirdForQuestionAnswering).
std::int64_t question_length(std::span<const std::int64_t> sequence, std::int64_t end);
/// The types of its tokens: 0, and 1 behind the question.
std::vector<std::int64_t> types_by_question(std::span<const std::int64_t> sequence, std::int64_t end);

}  // namespace attune
