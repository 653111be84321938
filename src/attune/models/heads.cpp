#include "attune/models/heads.h"

#include "attune/base/error.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/pooling.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// Where the picked rows stand, for their random numbers.
TokenPlaces picked(const TokenPlaces& places, const std::vector<std::int64_t>* rows) {
  if (!rows || !places.examples) return places;
  std::vector<std::int64_t> examples;
  std::vector<std::int32_t> positions;
  for (std::int64_t row : *rows) {
    examples.push_back((*places.examples)[static_cast<std::size_t>(row)]);
    positions.push_back((*places.positions)[static_cast<std::size_t>(row)]);
  }
  return TokenPlaces::of(std::move(examples), std::move(positions));
}

Tensor pooled(const Tensor& hidden, const Batch& batch, Pooling pooling) {
  if (pooling == Pooling::mean) return segment_mean(hidden, batch.offsets);
  return pooling == Pooling::max ? segment_max(hidden, batch.offsets) : first_tokens(hidden, batch);
}

Linear output_layer(const Weights& root, const HeadLayers& layers) {
  return Linear(root / layers.output, layers.output_width(), layers.outputs, {.deviation = layers.deviation});
}

}  // namespace

HeadStack::HeadStack(const Weights& root, const HeadLayers& l)
    : activation_(l.activation), dropout_before_(l.dropout_before), dropout_back_(l.dropout_back), dropout_(l.dropout) {
  const LinearOptions options{.bias = l.dense_bias, .deviation = l.deviation};
  if (!l.dense.empty()) dense_ = Linear(root / l.dense, l.hidden, l.dense_width(), options);
  if (!l.back.empty()) back_ = Linear(root / l.back, l.dense_width(), l.hidden, options);
  if (!l.norm.empty()) norm_ = Norm::layer(root / l.norm, l.output_width(), l.epsilon, l.norm_bias);
}

Tensor HeadStack::operator()(const Tensor& x, const Batch& batch, const TokenPlaces& places) const {
  auto dropped = [&](const Tensor& y, double rate, std::string_view site) {
    return batch.dropout && rate > 0 ? dropout(y, rate, batch.site(site), places) : y;
  };
  Tensor y = dropped(x, dropout_before_, "classifier input");
  if (dense_) y = activation((*dense_)(y), activation_);
  if (back_) y = add(dropped((*back_)(y), dropout_back_, "classifier block"), x);
  return dropped(norm_(y), dropout_, "classifier");
}

MaskedTokenHead::MaskedTokenHead(const Weights& root, const HeadLayers& l, const Embedding* tied) : stack_(root, l) {
  const auto bias = [&](const std::string& name) {
    return name.empty() ? Tensor() : root.parameter(name, {l.outputs}, Initial::zeros());
  };
  if (tied) {
    const Tensor shared = bias(l.tied_bias);
    output_ = Linear(tied->as_matrix(), shared);
    if (!l.output.empty()) tied->tied(root, l.output + ".weight");
    if (l.two_biases()) root.tied(l.untied_bias, shared);
    return;
  }
  const bool beside = l.untied_bias == l.output + ".bias";
  if (beside || l.untied_bias.empty()) {
    output_ = Linear(root / l.output, l.output_width(), l.outputs, {.bias = beside, .deviation = l.deviation});
    return;
  }
  const Tensor weight =
      root.parameter(l.output + ".weight", {l.outputs, l.output_width()}, Initial::normal(l.deviation));
  output_ = Linear(std::make_shared<DenseWeight>(LinearWeight(weight, false)), bias(l.untied_bias));
}

Tensor MaskedTokenHead::features(const Tensor& hidden, const Batch& batch,
                                 const std::vector<std::int64_t>* rows) const {
  return stack_(pick(hidden, rows), batch, picked(batch.places, rows));
}

SequenceHead::SequenceHead(const Weights& root, const HeadLayers& layers)
    : stack_(root, layers), output_(output_layer(root, layers)), pooling_(layers.pooling) {}

Tensor SequenceHead::features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>*) const {
  const Tensor summary = stack_(pooled(hidden, batch, pooling_), batch, first_places(batch));  // [sequences, width]
  return batch.documents ? segment_mean(summary, *batch.documents) : summary;
}

TagHead::TagHead(const Weights& root, const HeadLayers& layers)
    : stack_(root, layers), output_(output_layer(root, layers)) {}

Tensor TagHead::features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>* rows) const {
  return stack_(pick(hidden, rows), batch, picked(batch.places, rows));
}

AnswerHead::AnswerHead(const Weights& root, HeadLayers layers)
    : stack_(root, layers), question_end_(layers.question_end) {
  layers.outputs = 2;
  output_ = output_layer(root, layers);
}

Tensor AnswerHead::features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>*) const {
  return stack_(hidden, batch, batch.places);
}

Tensor AnswerHead::logits_of(const Tensor& features, const Batch& batch) const {
  const Tensor logits = Head::logits_of(features, batch);  // [tokens, 2]
  if (!question_end_) return logits;
  std::vector<double> less(static_cast<std::size_t>(logits.numel()));
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    const std::int64_t begin = batch.offsets.begin(s), length = question_length(ids_of(batch, s), *question_end_);
    for (std::int64_t i = 2 * (begin + 1); i < 2 * (begin + length); ++i) less[static_cast<std::size_t>(i)] = -1e6;
  }
  return add(logits, Tensor::from<double>({logits.dim(0), 2}, less).to(logits.dtype()));
}

Tensor AnswerHead::loss_of(const Tensor& features, const Batch& batch, const Tensor& labels,
                           const CrossEntropyOptions& options) const {
  const Tensor logits = logits_of(features, batch);  // [tokens, 2]
  CrossEntropyOptions each{.ignore_index = options.ignore_index, .label_smoothing = options.label_smoothing};
  each.denominator = options.denominator.value_or(cross_entropy_denominator(labels, each));
  Tensor loss = Tensor::zeros({}, logits.dtype());
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    // One column is the start's, one the end's: the classes are the sequence's tokens.
    const Tensor own = row_range(logits, batch.offsets.begin(s), batch.offsets.end(s));
    const Tensor asked = labels.rows(s, s + 1).as_shape({2});
    loss = add(loss, cross_entropy(contiguous(transposed(own, 0, 1)), asked, each));
  }
  return loss;
}

std::unique_ptr<Head> make_head(HeadKind kind, const Weights& root, const HeadLayers& layers, const Embedding* words) {
  switch (kind) {
    case HeadKind::none:
      return nullptr;
    case HeadKind::masked_lm:
      return std::make_unique<MaskedTokenHead>(root, layers, words);
    case HeadKind::classify:
      return std::make_unique<SequenceHead>(root, layers);
    case HeadKind::tag:
      return std::make_unique<TagHead>(root, layers);
    case HeadKind::answer:
      return std::make_unique<AnswerHead>(root, layers);
    case HeadKind::causal_lm:
    case HeadKind::sequence_to_sequence:
      break;
  }
  fail("heads of language models that write text are not made of these layers");
}

}  // namespace attune
