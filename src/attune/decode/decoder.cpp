#include "attune/decode/decoder.h"

#include <algorithm>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/nn/attention/family.h"

namespace attune {

namespace {

/// Whether the blocks can read one more token from a cache or from states.
bool goes_on(const Model& model) {
  const auto& blocks = model.decoding_blocks();
  return !blocks.empty() && std::ranges::all_of(blocks, [](const Block& block) {
    return !block.attention.family || block.attention.family->keeps_states();
  });
}

std::string writing_families() {
  std::string names;
  for (const FamilyEntry& entry : attention_families())
    if (entry.in_decoder && entry.writes_text) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

CacheShape shape_of(const Model& model, const DecoderCache& cache) {
  const ModelFacts& facts = model.facts();
  check(facts.head == HeadKind::causal_lm || facts.head == HeadKind::sequence_to_sequence,
        "this {} model does not write text: use a causal language model or a translator", facts.model_type);
  check(goes_on(model),
        "this {} model's attention reads a text as a whole and can not go on from what it has read, so it writes none: "
        "train one with a family that does ({})",
        facts.model_type, writing_families());
  return {.layers = static_cast<std::int64_t>(model.decoding_blocks().size()),
          .kv_heads = facts.cached_attention.kv_heads,
          .head_dim = facts.cached_attention.head_dim,
          .page_tokens = cache.page_tokens,
          .format = cache.format};
}

/// What the cross-attention keeps of the memory.
CacheShape memory_shape_of(const Model& model, CacheFormat format) {
  CacheShape shape = shape_of(model, {.format = format});
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

/// Tokens that both begin with, `most` at most.
std::int64_t common_beginning(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                              std::int64_t most) {
  const auto n = std::min({a.size(), b.size(), static_cast<std::size_t>(std::max<std::int64_t>(most, 0))});
  return std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin();
}

}  // namespace

void check_tokens(const Model& model, const std::vector<std::vector<std::int64_t>>& sequences) {
  for (std::size_t i = 0; i < sequences.size(); ++i)
    for (std::int64_t id : sequences[i])
      check(id >= 0 && id < model.facts().vocab_size, "sequence {}: token {} is not among the model's {}", i, id,
            model.facts().vocab_size);
}

Decoder::Decoder(const Model& model, const DecoderCache& cache)
    : model_(model),
      cache_(shape_of(model, cache)),
      memory_(memory_shape_of(model, cache.format)),
      recurrent_(keeps_states(model)) {
  check(!recurrent_ || cache.format == CacheFormat::f32,
        "this {} model's attention keeps states, not keys and values, and states are not rounded: leave the {} cache "
        "(--cache) out",
        model.facts().model_type, name_of(cache.format));
}

Decoder::Prompt& Decoder::text_of(const Sequence& sequence) {
  const auto at = static_cast<std::size_t>(sequence.own);
  if (at >= texts_.size()) texts_.resize(at + 1);
  return texts_[at];
}

Decoder::Sequence Decoder::begin(std::int64_t planned) {
  check(model_.facts().head == HeadKind::causal_lm, "this {} model decodes from what its encoder read: give a source",
        model_.facts().model_type);
  const Sequence sequence{.own = cache_.add(), .planned = planned};
  if (recurrent_) states_.begin(sequence.own);
  text_of(sequence) = {{}, planned};
  return sequence;
}

bool Decoder::fits_together(std::int64_t planned, std::int64_t other) const {
  return !recurrent_ && (planned == other || model_.facts().shares_keys);
}

Decoder::Shared Decoder::longest_shared(const Prompt& prompt) const {
  const auto most = static_cast<std::int64_t>(prompt.ids.size()) - 1;  // one is left to be read
  Shared best;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::int64_t tokens = common_beginning(prompt.ids, texts_[i].ids, most);
    const auto handle = static_cast<KeyValueCache::Handle>(i);
    if (tokens >= cache_.shape().page_tokens && tokens > best.tokens &&
        fits_together(prompt.planned, texts_[i].planned) && !cache_.has_forgotten(handle))
      best = {handle, tokens};
  }
  return best;
}

std::vector<Decoder::Begun> Decoder::begin(const std::vector<Prompt>& prompts) {
  NoGradient none;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    check(!prompts[i].ids.empty(), "prompt {} has no token: this model needs at least one to begin with", i);
  for (const Prompt& prompt : prompts) check_tokens(model_, {prompt.ids});
  std::vector<Begun> all;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto& [ids, planned] = prompts[i];
    auto part = [&ids = ids](std::int64_t begin, std::int64_t end) {
      return std::vector<std::int64_t>(ids.begin() + begin, ids.begin() + end);
    };
    const Shared shared = longest_shared(prompts[i]);
    Sequence sequence = begin(planned);
    if (shared.tokens > 0) {
      cache_.drop(sequence.own);
      sequence.own = cache_.fork(shared.handle, shared.tokens);
    }
    text_of(sequence) = {part(0, shared.tokens), planned};
    std::int64_t begun = 0;  // what later prompts begin with too is read now, for them to share
    for (std::size_t j = i + 1; j < prompts.size(); ++j) {
      const auto most = static_cast<std::int64_t>(std::min(ids.size(), prompts[j].ids.size())) - 1;
      if (fits_together(planned, prompts[j].planned))
        begun = std::max(begun, common_beginning(ids, prompts[j].ids, most));
    }
    if (begun >= cache_.shape().page_tokens && begun > shared.tokens) {
      Batch batch = Batch::of({part(shared.tokens, begun)});
      read(batch, std::span(&sequence, 1));
    } else {
      begun = shared.tokens;
    }
    all.push_back({sequence, part(begun, static_cast<std::int64_t>(ids.size()))});
  }
  return all;
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
  Prompt text = text_of(parent);
  text_of(child) = std::move(text);
  return child;
}

void Decoder::drop(const Sequence& sequence) {
  text_of(sequence) = {};
  cache_.drop(sequence.own);
  if (recurrent_) states_.drop(sequence.own);
  if (sequence.memory >= 0) memory_.drop(sequence.memory);
}

Tensor Decoder::read(Batch& batch, std::span<const Sequence> sequences) {
  if (recurrent_)
    batch.states = &states_;
  else
    batch.cache = &cache_;
  const bool reads_memory = model_.facts().head == HeadKind::sequence_to_sequence;
  const std::span<const std::int64_t> ids = batch.ids.values<std::int64_t>();
  std::vector<std::int64_t> positions;
  Memory memory;
  memory.cache = &memory_;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    batch.handles.push_back(sequences[i].own);
    memory.handles.push_back(sequences[i].memory);
    batch.planned_lengths.push_back(sequences[i].planned);
    const std::int64_t before = length(sequences[i]), s = static_cast<std::int64_t>(i);
    for (std::int64_t t = 0; t < batch.offsets.length(s); ++t) positions.push_back(before + t);
    if (reads_memory || recurrent_) continue;
    std::vector<std::int64_t>& text = text_of(sequences[i]).ids;
    text.insert(text.end(), ids.begin() + batch.offsets.begin(s), ids.begin() + batch.offsets.end(s));
  }
  batch.positions = Tensor::from<std::int64_t>({static_cast<std::int64_t>(positions.size())}, positions);
  Tensor hidden = reads_memory ? model_.forward(batch, memory) : model_.forward(batch);  // [tokens, hidden]
  for (std::size_t i = 0; recurrent_ && i < sequences.size(); ++i)
    states_.advance(sequences[i].own, batch.offsets.length(static_cast<std::int64_t>(i)));
  return hidden;
}

Tensor Decoder::step(std::span<const Sequence> sequences, const std::vector<std::vector<std::int64_t>>& tokens) {
  NoGradient none;
  check(sequences.size() == tokens.size(), "decoding: tokens of {} sequences for {}", tokens.size(), sequences.size());
  check_tokens(model_, tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) check(!tokens[i].empty(), "decoding: sequence {} gets no token", i);
  Batch batch = Batch::of(tokens);
  std::vector<std::int64_t> last;
  for (std::int64_t i = 0; i < batch.offsets.count(); ++i) last.push_back(batch.offsets.end(i) - 1);
  const Tensor hidden = read(batch, sequences);
  return model_.head().logits(hidden, batch, &last);
}

}  // namespace attune
