#include "attune/models/head.h"

#include <algorithm>

#include "attune/base/error.h"
#include "attune/ops/activation.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/pooling.h"
#include "attune/ops/view.h"

namespace attune {

Tensor pick(const Tensor& hidden, const std::vector<std::int64_t>* rows) {
  if (!rows) return hidden;
  return select_rows(hidden, Tensor::from<std::int64_t>({static_cast<std::int64_t>(rows->size())}, *rows));
}

namespace {

Tensor bent(const Tensor& logits, double cap) {
  return scale(activation(scale(logits, 1 / cap), Activation::tanh), cap);
}

}  // namespace

Tensor Head::logits_of(const Tensor& features, const Batch&) const {
  const std::optional<double> cap = logit_cap();
  return cap ? bent(output()(features), *cap) : output()(features);
}

Tensor Head::loss_of(const Tensor& features, const Batch& batch, const Tensor& labels,
                     const CrossEntropyOptions& options) const {
  if (logit_cap()) return cross_entropy(logits_of(features, batch), labels, options);
  return output().cross_entropy_of(features, labels, options);
}

CausalLmHead::CausalLmHead(const Embedding& words, const Weights& w, const CausalLmOptions& options)
    : options_(options) {
  const std::int64_t vocab_size = words.count();
  output_ = Linear(words.as_matrix(), options.bias ? w.parameter("bias", {vocab_size}, Initial::zeros()) : Tensor());
  words.tied(w, "weight");
}

Tensor CausalLmHead::features(const Tensor& hidden, const Batch&, const std::vector<std::int64_t>* rows) const {
  const Tensor picked = pick(hidden, rows);
  return options_.scale == 1 ? picked : scale(picked, options_.scale);
}

LastTokenHead::LastTokenHead(const Weights& w, std::int64_t hidden, std::int64_t labels, double deviation)
    : output_(w, hidden, labels, {.bias = false, .deviation = deviation}) {}

Tensor LastTokenHead::features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>*) const {
  std::vector<std::int64_t> last;
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    check(batch.offsets.length(s) > 0, "sequence {} of the batch is empty: it has no last token to stand for it", s);
    last.push_back(batch.offsets.end(s) - 1);
  }
  const Tensor summary = pick(hidden, &last);  // [sequences, hidden]
  return batch.documents ? segment_mean(summary, *batch.documents) : summary;
}

Tensor first_tokens(const Tensor& hidden, const Batch& batch) {
  std::vector<std::int64_t> first;
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    check(batch.offsets.length(s) > 0, "sequence {} of the batch is empty: it has no first token to stand for it", s);
    first.push_back(batch.offsets.begin(s));
  }
  return pick(hidden, &first);
}

TokenPlaces first_places(const Batch& batch) {
  std::vector<std::int64_t> examples;
  std::vector<std::int32_t> positions;
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    auto first = static_cast<std::size_t>(batch.offsets.begin(s));
    examples.push_back((*batch.places.examples)[first]);
    positions.push_back((*batch.places.positions)[first]);
  }
  return TokenPlaces::of(std::move(examples), std::move(positions));
}

std::span<const std::int64_t> ids_of(const Batch& batch, std::int64_t sequence) {
  return batch.ids.values<std::int64_t>().subspan(static_cast<std::size_t>(batch.offsets.begin(sequence)),
                                                  static_cast<std::size_t>(batch.offsets.length(sequence)));
}

std::int64_t question_length(std::span<const std::int64_t> sequence, std::int64_t end) {
  const auto found = std::ranges::find(sequence, end);
  return found == sequence.end() ? 1 : found - sequence.begin() + 1;
}

std::vector<std::int64_t> types_by_question(std::span<const std::int64_t> sequence, std::int64_t end) {
  std::vector<std::int64_t> types(sequence.size(), 1);
  std::fill_n(types.begin(), std::min<std::int64_t>(question_length(sequence, end), std::ssize(types)), 0);
  return types;
}

}  // namespace attune
