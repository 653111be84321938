#pragma once

#include <optional>
#include <span>
#include <vector>

#include "attune/data/example.h"
#include "attune/models/model.h"

namespace attune {

/// Examples put together for one pass: ragged batches, and the rows of the head that have a label.
struct LabelledBatch {
  Batch batch;                     // of the encoder, or of the only stack
  std::optional<Batch> decoder;    // of an encoder-decoder
  std::vector<std::int64_t> rows;  // rows of the final states that are labelled; unused by heads over sequences
  Tensor labels;                   // [rows or sequences] I64; of answers [sequences, 2]
  std::int64_t labelled = 0;       // how many labels count
};

/// Collates `examples`; `numbers` are what their random numbers depend on. Throws Error where labels do not fit the ids
/// or the head, naming the example by its number.
LabelledBatch collate(const Model& model, std::span<const Example> examples, std::span<const std::int64_t> numbers);

/// Mean cross-entropy over the labelled rows, a scalar on the tape; a training pass where batch.dropout is set. Where
/// collate() set batch.routing, the model's share of balance_loss() is added; without it the loss is that of the text
/// alone.
Tensor loss_of(const Model& model, const LabelledBatch& batch, const CrossEntropyOptions& options = {});

/// The same from hidden states that final_states() gave for this batch.
Tensor loss_of_states(const Model& model, const Tensor& states, const LabelledBatch& batch,
                      const CrossEntropyOptions& options = {});

/// Hidden states of the (decoding) stack for a collated batch. [tokens, hidden]
Tensor final_states(const Model& model, const LabelledBatch& batch, Observer* observer = nullptr);

}  // namespace attune
