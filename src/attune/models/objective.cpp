#include "attune/models/objective.h"

#include <algorithm>

#include "attune/base/error.h"
#include "attune/nn/feedforward/experts.h"
#include "attune/ops/arithmetic.h"

namespace attune {

namespace {

/// transformers' shift_tokens_right: the start token, then the labels but the last, -100 read as padding.
std::vector<std::int64_t> shifted_right(const std::vector<std::int64_t>& labels, const ModelFacts& facts) {
  const std::int64_t padding = facts.pad_token_id.value_or(0);
  std::vector<std::int64_t> ids = labels;
  std::ranges::replace(ids, ignored_label, padding);
  std::optional<std::int64_t> first = facts.decoder_start_token_id;
  // mBART's shift_tokens_right: the last label, found by counting those that are no padding.
  if (facts.begins_with_last_label && !ids.empty()) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(ids, [&](auto id) { return id != padding; }));
    check(count > 0, "the labels are all padding: a decoder of this kind begins with the last of them");
    first = ids[count - 1];
  }
  check(first.has_value(), "decoder_ids are missing, and the config has no decoder_start_token_id to make them");
  if (!ids.empty()) ids.pop_back();
  ids.insert(ids.begin(), *first);
  return ids;
}

/// Labels a row of the head, in order: shifted for causal models, where the last token predicts nothing.
void append_token_labels(const Example& example, std::size_t length, bool shifted, std::int64_t number,
                         std::vector<std::int64_t>& labels) {
  check(example.labels.empty() || example.labels.size() == length, "example {}: {} labels for {} tokens", number,
        example.labels.size(), length);
  for (std::size_t t = 0; t < length; ++t) {
    std::size_t from = t + (shifted ? 1 : 0);
    labels.push_back(from < example.labels.size() ? example.labels[from] : ignored_label);
  }
}

/// The first and the last token of an answer; both ignored where the example has no labels.
void append_answer(const Example& example, std::int64_t number, std::vector<std::int64_t>& labels) {
  check(example.labels.empty() || example.labels.size() == 2,
        "example {}: {} labels: an answer has two, its first and its last token", number, example.labels.size());
  const auto tokens = static_cast<std::int64_t>(example.chunks[0].size());
  for (std::size_t end = 0; end < 2; ++end) {
    labels.push_back(example.labels.empty() ? ignored_label : example.labels[end]);
    check(labels.back() < tokens, "example {}: the answer is labelled as token {}, and there are {} tokens, from 0",
          number, labels.back(), tokens);
  }
}

/// Of the tokens of one of its chunks.
std::vector<std::int64_t> types_of(const Example& example, std::size_t chunk, const ModelFacts& facts) {
  if (!example.type_ids.empty()) return example.type_ids;
  if (facts.question_end) return types_by_question(example.chunks[chunk], *facts.question_end);
  return std::vector<std::int64_t>(example.chunks[chunk].size());
}

/// Keeps the labelled rows alone: the head runs on nothing else.
void keep_labelled_rows(const std::vector<std::int64_t>& labels, LabelledBatch& result) {
  std::vector<std::int64_t> kept;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] == ignored_label) continue;
    result.rows.push_back(static_cast<std::int64_t>(row));
    kept.push_back(labels[row]);
  }
  result.labelled = static_cast<std::int64_t>(kept.size());
  result.labels = Tensor::from<std::int64_t>({result.labelled}, kept);
}

}  // namespace

LabelledBatch collate(const Model& model, std::span<const Example> examples, std::span<const std::int64_t> numbers) {
  const ModelFacts& facts = model.facts();
  bool over_sequences = facts.head == HeadKind::classify, decodes = facts.head == HeadKind::sequence_to_sequence;
  const bool answers = facts.head == HeadKind::answer;
  std::vector<std::vector<std::int64_t>> chunks, decoder;
  std::vector<std::int64_t> owners, chunk_counts, types, labels;
  bool typed = false;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Example& example = examples[i];
    check(!example.chunks.empty(), "example {} has no tokens", numbers[i]);
    check(over_sequences || example.chunks.size() == 1,
          "example {} is {} chunks long: only classification joins chunks", numbers[i], example.chunks.size());
    check(
        example.type_ids.empty() || (example.chunks.size() == 1 && example.type_ids.size() == example.chunks[0].size()),
        "example {}: {} token_type_ids for {} ids", numbers[i], example.type_ids.size(), example.chunks[0].size());
    typed = typed || !example.type_ids.empty();
    for (std::size_t j = 0; j < example.chunks.size(); ++j) {
      const auto& chunk = example.chunks[j];
      const std::vector<std::int64_t> own = types_of(example, j, facts);
      types.insert(types.end(), own.begin(), own.end());
      chunks.push_back(chunk);
      owners.push_back(numbers[i] + (static_cast<std::int64_t>(j) << 40));  // each chunk has random numbers of its own
    }
    chunk_counts.push_back(static_cast<std::int64_t>(example.chunks.size()));
    if (over_sequences) {
      check(example.labels.size() <= 1, "example {}: classification takes one label, not {}", numbers[i],
            example.labels.size());
      labels.push_back(example.labels.empty() ? ignored_label : example.labels[0]);
    } else if (answers) {
      append_answer(example, numbers[i], labels);
    } else if (decodes) {
      decoder.push_back(example.decoder_ids.empty() ? shifted_right(example.labels, facts) : example.decoder_ids);
      append_token_labels(example, decoder.back().size(), false, numbers[i], labels);
    } else {
      append_token_labels(example, example.chunks[0].size(), facts.head == HeadKind::causal_lm, numbers[i], labels);
    }
  }
  LabelledBatch result;
  result.batch = Batch::of(chunks, owners);
  if (facts.router_loss > 0) result.batch.routing = std::make_shared<Routing>();
  if (typed) result.batch.type_ids = Tensor::from<std::int64_t>({result.batch.tokens()}, types);
  if (answers) {
    result.labels = Tensor::from<std::int64_t>({result.batch.offsets.count(), 2}, labels);
    for (std::int64_t label : labels) result.labelled += label != ignored_label;
  } else if (over_sequences) {
    result.batch.documents = Offsets::from_lengths(chunk_counts);
    result.labels = Tensor::from<std::int64_t>({static_cast<std::int64_t>(labels.size())}, labels);
    for (std::int64_t label : labels) result.labelled += label != ignored_label;
  } else {
    if (decodes) result.decoder = Batch::of(decoder, std::vector<std::int64_t>(numbers.begin(), numbers.end()));
    keep_labelled_rows(labels, result);
  }
  return result;
}

Tensor final_states(const Model& model, const LabelledBatch& batch, Observer* observer) {
  if (!batch.decoder) return model.forward(batch.batch, observer);
  return model.forward(*batch.decoder, model.encode(batch.batch, observer), observer);
}

Tensor loss_of(const Model& model, const LabelledBatch& batch, const CrossEntropyOptions& options) {
  return loss_of_states(model, final_states(model, batch), batch, options);
}

Tensor loss_of_states(const Model& model, const Tensor& states, const LabelledBatch& batch,
                      const CrossEntropyOptions& options) {
  const Head& head = model.head();
  const Batch& read = batch.decoder ? *batch.decoder : batch.batch;
  const Tensor loss = head.loss_of(head.features(states, read, &batch.rows), read, batch.labels, options);
  if (!batch.batch.routing) return loss;
  // Micro-batches of one step share the balance as they share the mean: by what they have of its denominator.
  const double own = cross_entropy_denominator(batch.labels, options);
  const double share = options.denominator ? own / *options.denominator : 1;
  return add(loss, scale(balance_loss(*batch.batch.routing), model.facts().router_loss * share));
}

}  // namespace attune
