#include "attune/nn/attention/recurrent_memory.h"

#include <algorithm>

#include "attune/base/error.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// One step of all sequences that are still there: where its rows come from, and the batch that the stack sees.
struct Step {
  std::vector<std::int64_t> rows;       // of [the step's tokens; memory of the step before, or the learned one]
  std::vector<std::int64_t> memory_of;  // rows of the stack's output that are the next memory, sequence by sequence
  std::vector<std::int64_t> tokens;     // rows of the stack's output that are tokens
  Batch batch;
};

/// Gathers the rows of one step and their places.
class StepBuilder {
 public:
  StepBuilder(const Batch& batch, std::int64_t step, const RecurrentMemorySizes& sizes)
      : batch_(batch), step_(step), sizes_(sizes) {}

  /// `memory`: the first row of the sequence's memory.
  void add(std::int64_t sequence, std::int64_t memory) {
    const std::int64_t begin = batch_.offsets.begin(sequence) + step_ * sizes_.segment;
    const std::int64_t end = std::min(begin + sizes_.segment, batch_.offsets.end(sequence));
    const auto before = static_cast<std::int64_t>(out_.rows.size());
    sequence_ = sequence, position_ = 0;
    std::int64_t written = before;
    add_memory(memory);
    for (std::int64_t t = begin; t < end; ++t) {
      out_.tokens.push_back(static_cast<std::int64_t>(out_.rows.size()));
      types_.push_back(batch_.type_ids.defined() ? batch_.type_ids.values<std::int64_t>()[static_cast<std::size_t>(t)]
                                                 : 0);
      add_row(next_token_++);
    }
    if (sizes_.causal) written = static_cast<std::int64_t>(out_.rows.size()), add_memory(memory);
    for (std::int64_t m = 0; m < sizes_.memory_tokens; ++m) out_.memory_of.push_back(written + m);
    lengths_.push_back(position_);
    out_.batch.examples.push_back(batch_.examples[static_cast<std::size_t>(sequence)]);
  }

  Step finish() {
    Batch& b = out_.batch;
    const Shape shape{static_cast<std::int64_t>(out_.rows.size())};
    b.ids = Tensor::zeros(shape, DType::I64);  // the stack begins behind the look-up
    if (batch_.type_ids.defined()) b.type_ids = Tensor::from<std::int64_t>(shape, types_);
    b.positions = Tensor::from<std::int64_t>(shape, positions_);
    b.offsets = Offsets::from_lengths(lengths_);
    b.places = TokenPlaces::of(std::move(owners_), std::move(places_));
    // Attention's numbers are keyed by places within a segment: each step has others.
    if (batch_.dropout) b.dropout = batch_.dropout->at("segment").at(static_cast<std::uint64_t>(step_));
    return std::move(out_);
  }

 private:
  void add_memory(std::int64_t first) {
    for (std::int64_t m = 0; m < sizes_.memory_tokens; ++m) types_.push_back(0), add_row(first + m);
  }
  void add_row(std::int64_t row) {
    out_.rows.push_back(row);
    positions_.push_back(position_);
    owners_.push_back(batch_.examples[static_cast<std::size_t>(sequence_)]);
    places_.push_back(static_cast<std::int32_t>(position_++));
  }

  const Batch& batch_;
  std::int64_t step_, sequence_ = 0, position_ = 0, next_token_ = 0;
  const RecurrentMemorySizes& sizes_;
  std::vector<std::int64_t> lengths_, positions_, owners_, types_;
  std::vector<std::int32_t> places_;
  Step out_;
};

Tensor indices_of(const std::vector<std::int64_t>& rows) {
  return Tensor::from<std::int64_t>({static_cast<std::int64_t>(rows.size())}, rows);
}

}  // namespace

RecurrentMemory::RecurrentMemory(const Weights& w, const RecurrentMemorySizes& sizes)
    : sizes_(sizes), memory_(w.parameter("memory", {sizes.memory_tokens, sizes.hidden_size}, Initial::normal(0.02))) {}

Tensor RecurrentMemory::operator()(const Tensor& x, const Batch& batch, const Stack& stack) const {
  check(!batch.cache, "recurrent memory is not decoded with a cache of keys and values");
  const std::int64_t tokens = batch.tokens(), width = sizes_.memory_tokens;
  check(x.rank() == 2 && x.dim(0) == tokens && x.dim(1) == sizes_.hidden_size,
        "recurrent memory: {} embedded tokens of width {} were expected, not {}", tokens, sizes_.hidden_size,
        x.shape());
  if (tokens == 0) return x;
  const std::int64_t steps = (batch.offsets.longest() + sizes_.segment - 1) / sizes_.segment;
  const auto sequences = static_cast<std::size_t>(batch.offsets.count());
  // Tokens in the order of the steps: then each step's are rows one behind the other.
  std::vector<std::int64_t> order, starts{0}, back(static_cast<std::size_t>(tokens));
  for (std::int64_t s = 0; s < steps; ++s) {
    for (std::int64_t i = 0; i < batch.offsets.count(); ++i)
      for (std::int64_t t = s * sizes_.segment; t < std::min((s + 1) * sizes_.segment, batch.offsets.length(i)); ++t) {
        back[static_cast<std::size_t>(batch.offsets.begin(i) + t)] = static_cast<std::int64_t>(order.size());
        order.push_back(batch.offsets.begin(i) + t);
      }
    starts.push_back(static_cast<std::int64_t>(order.size()));
  }
  const Tensor ordered = select_rows(x, indices_of(order));
  Tensor memory = memory_;                        // [sequences of the step before x memory_tokens, hidden]
  std::vector<std::int64_t> slots(sequences, 0);  // which of the memories is a sequence's: at first one for all
  std::vector<Tensor> outputs;                    // of each step, its tokens alone
  for (std::int64_t s = 0; s < steps; ++s) {
    const std::int64_t begin = starts[static_cast<std::size_t>(s)], end = starts[static_cast<std::size_t>(s) + 1];
    StepBuilder builder(batch, s, sizes_);
    std::int64_t slot = 0;
    for (std::int64_t i = 0; i < batch.offsets.count(); ++i) {
      if (batch.offsets.length(i) <= s * sizes_.segment) continue;
      builder.add(i, end - begin + slots[static_cast<std::size_t>(i)] * width);
      slots[static_cast<std::size_t>(i)] = slot++;
    }
    Step step = builder.finish();
    const Tensor in = select_rows(concatenate_rows({row_range(ordered, begin, end), memory}), indices_of(step.rows));
    const Tensor states = stack(in, step.batch);
    outputs.push_back(select_rows(states, indices_of(step.tokens)));
    if (s + 1 < steps) memory = select_rows(states, indices_of(step.memory_of));
  }
  return select_rows(concatenate_rows(outputs), indices_of(back));
}

}  // namespace attune
