// Vaswani et al. 2017, figure 1: the encoder's and the decoder's layers are one block; the mask and the cross-attention
// differ.
#include "attune/nn/block/block.h"

#include "attune/workflows/demo/attention_parts.h"
#include "attune/workflows/demo/demo.h"

namespace attune {

namespace {

constexpr std::int64_t width = 32;

MultiHead heads(const Weights& w, AttentionMask mask) {
  return {.query = Linear(w / "query", width, width),
          .key = Linear(w / "key", width, width),
          .value = Linear(w / "value", width, width),
          .output = Linear(w / "output", width, width),
          .sizes = {4, 4, width / 4},
          .rule = {.mask = mask}};
}

/// The one block; only the mask and whether there is cross-attention are given.
Block make_block(const Weights& w, AttentionMask mask, bool cross) {
  Block block{.attention = heads(w / "attention", mask),
              .attention_norm = Norm::layer(w / "attention_norm", width, 1e-5),
              .feedforward = {.up = Linear(w / "up", width, 4 * width),
                              .down = Linear(w / "down", 4 * width, width),
                              .activation = Activation::gelu},
              .feedforward_norm = Norm::layer(w / "feedforward_norm", width, 1e-5)};
  if (cross) {
    block.cross = heads(w / "cross", bidirectional());
    block.cross_norm = Norm::layer(w / "cross_norm", width, 1e-5);
  }
  return block;
}

}  // namespace

DemoResult demo_block(std::uint64_t seed, const Run&) {
  auto build = [&](AttentionMask mask, bool cross) {
    auto set = std::make_shared<ParameterSet>(WeightSource{.checkpoint = nullptr, .initial = RandomKey{.seed = seed}},
                                              NameRules{});
    return std::pair(make_block(Weights(*set), mask, cross), set);
  };
  auto [encoder, encoder_weights] = build(bidirectional(), false);
  auto [decoder, decoder_weights] = build(causal(), false);
  auto [seq2seq, seq2seq_weights] = build(causal(), true);
  constexpr std::int64_t tokens = 12;
  Batch batch = Batch::of({std::vector<std::int64_t>(tokens, 0)});
  Tensor x = demo_values({tokens, width}, seed, "demo block"), last_changed = x.clone();
  copy_into(demo_values({1, width}, seed, "demo last word"), last_changed.rows(tokens - 1, tokens));
  // How far the first output moves when the last word changes, or when the memory does.
  auto moved = [&](const Block& block, const Tensor& other, const Memory* one, const Memory* two) {
    return largest_difference(block(x, batch, nullptr, one).rows(0, 1), block(other, batch, nullptr, two).rows(0, 1));
  };
  Memory memory{demo_values({5, width}, seed, "demo memory"), Offsets::single(5)},
      other{demo_values({5, width}, seed, "demo other memory"), Offsets::single(5)};
  double encoder_sees = moved(encoder, last_changed, nullptr, nullptr),
         decoder_sees = moved(decoder, last_changed, nullptr, nullptr);
  double seq2seq_sees = moved(seq2seq, last_changed, &memory, &memory),
         seq2seq_reads = moved(seq2seq, x, &memory, &other);
  return {.claim =
              "the same block is an encoder with an open mask, a decoder with a causal one, and a translator's decoder "
              "with cross-attention",
          .figures = {{"parameters of the encoder's block", static_cast<double>(encoder_weights->count())},
                      {"parameters of the decoder's block", static_cast<double>(decoder_weights->count())},
                      {"parameters with cross-attention", static_cast<double>(seq2seq_weights->count())},
                      {"first output's change when the last word changes: encoder", encoder_sees},
                      {"the same: decoder", decoder_sees},
                      {"the same: decoder with cross-attention", seq2seq_sees},
                      {"its change when the memory changes", seq2seq_reads}},
          .holds = encoder_weights->count() == decoder_weights->count() && encoder_sees > 0.001 && decoder_sees == 0 &&
                   seq2seq_sees == 0 && seq2seq_reads > 1e-4};
}

}  // namespace attune
