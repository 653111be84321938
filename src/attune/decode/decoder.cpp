#include "attune/decode/decoder.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/nn/attention/family.h"

namespace attune {

namespace {

CacheShape shape_of(const Model& model, std::int64_t page_tokens) {
  const ModelFacts& facts = model.facts();
  check(facts.head == HeadKind::causal_lm || facts.head == HeadKind::sequence_to_sequence,
        "this {} model does not write text: use a causal language model or a translator", facts.model_type);
  for (const Block& block : model.decoding_blocks())
    check(
        !block.attention.family || block.attention.family->keeps_states(),
        "this {} model's attention family keeps no cache of keys and values to write text from: use one that is a rule "
        "(full, window, ...)",
        facts.model_type);
  return {.layers = static_cast<std::int64_t>(model.decoding_blocks().size()),
          .kv_heads = facts.cached_attention.kv_heads,
          .head_dim = facts.cached_attention.head_dim,
          .page_tokens = page_tokens};
}

/// What the cross-attention keeps of the memory: never written again, so that a page may be long.
CacheShape memory_shape_of(const Model& model) {
  CacheShape shape = shape_of(model, 64);
  const Block& first = model.decoding_blocks().front();
  if (first.cross) {
    shape.kv_heads = first.cross->sizes.kv_heads;
    shape.head_dim = first.cross->sizes.head_dim;
  }
  return shape;
}

/// All layers of a model are of one family.
bool keeps_states(const Model& model) {
  const auto& family = model.decoding_blocks().front().attention.family;
  return family && family->keeps_states();
}

}  // namespace

void check_tokens(const Model& model, const std::vector<std::vector<std::int64_t>>& sequences) {
  for (std::size_t i = 0; i < sequences.size(); ++i)
    for (std::int64_t id : sequences[i])
      check(id >= 0 && id < model.facts().vocab_size, "sequence {}: token {} is not among the model's {}", i, id,
            model.facts().vocab_size);
}

Decoder::Decoder(const Model& model, std::int64_t page_tokens)
    : model_(model),
      cache_(shape_of(model, page_tokens)),
      memory_(memory_shape_of(model)),
      recurrent_(keeps_states(model)) {}

Decoder::Sequence Decoder::begin(std::int64_t planned) {
  check(model_.facts().head == HeadKind::causal_lm, "this {} model decodes from what its encoder read: give a source",
        model_.facts().model_type);
  const Sequence sequence{.own = cache_.add(), .planned = planned};
  if (recurrent_) states_.begin(sequence.own);
  return sequence;
}

std::vector<Decoder::Sequence> Decoder::begin(const std::vector<std::vector<std::int64_t>>& sources) {
  NoGradient none;
  check_tokens(model_, sources);
  for (std::size_t i = 0; i < sources.size(); ++i)
    check(!sources[i].empty(), "source {} is empty: an encoder reads at least one token", i);
  std::vector<Sequence> begun;
  if (sources.empty()) return begun;
  Memory memory = model_.encode(Batch::of(sources));
  memory.cache = &memory_;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    begun.push_back({.own = cache_.add(), .memory = memory_.add()});
    memory.handles.push_back(begun.back().memory);
  }
  for (const Block& block : model_.decoding_blocks()) block.cross->remember(memory, block.place);
  return begun;
}

Decoder::Sequence Decoder::fork(const Sequence& parent) {
  Sequence child{.own = cache_.fork(parent.own), .planned = parent.planned};
  if (recurrent_) states_.fork(parent.own, child.own);
  if (parent.memory >= 0) child.memory = memory_.fork(parent.memory);
  return child;
}

void Decoder::drop(const Sequence& sequence) {
  cache_.drop(sequence.own);
  if (recurrent_) states_.drop(sequence.own);
  if (sequence.memory >= 0) memory_.drop(sequence.memory);
}

Tensor Decoder::step(std::span<const Sequence> sequences, const std::vector<std::vector<std::int64_t>>& tokens) {
  NoGradient none;
  check(sequences.size() == tokens.size(), "decoding: tokens of {} sequences for {}", tokens.size(), sequences.size());
  check_tokens(model_, tokens);
  Batch batch = Batch::of(tokens);
  if (recurrent_)
    batch.states = &states_;
  else
    batch.cache = &cache_;
  std::vector<std::int64_t> positions, last;
  Memory memory;
  memory.cache = &memory_;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    check(!tokens[i].empty(), "decoding: sequence {} gets no token", i);
    batch.handles.push_back(sequences[i].own);
    memory.handles.push_back(sequences[i].memory);
    batch.planned_lengths.push_back(sequences[i].planned);
    std::int64_t before = length(sequences[i]);
    for (std::size_t t = 0; t < tokens[i].size(); ++t) positions.push_back(before + static_cast<std::int64_t>(t));
    last.push_back(batch.offsets.end(static_cast<std::int64_t>(i)) - 1);
  }
  batch.positions = Tensor::from<std::int64_t>({static_cast<std::int64_t>(positions.size())}, positions);
  bool reads_memory = model_.facts().head == HeadKind::sequence_to_sequence;
  Tensor hidden = reads_memory ? model_.forward(batch, memory) : model_.forward(batch);  // [tokens, hidden]
  for (std::size_t i = 0; recurrent_ && i < sequences.size(); ++i)
    states_.advance(sequences[i].own, static_cast<std::int64_t>(tokens[i].size()));
  return model_.head().logits(hidden, batch, &last);
}

}  // namespace attune
