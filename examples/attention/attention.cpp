// The examples of docs/attention.md, which shows these functions as they stand here (a test holds the page to that).
// The program runs them all and says what each gave.
#include <fmt/core.h>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/ops/attention.h"
#include "attune/ops/attention_masks.h"
#include "attune/ops/attention_scores.h"
#include "attune/ops/relative_buckets.h"

namespace attune {

Tensor one_sequence(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto sequences = AttentionSequences::of(Offsets::single(q.dim(0)));
  return attention(q, k, v, sequences, {.mask = causal()});
}

Tensor many_sequences(const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::vector<std::int64_t> lengths = {20, 1, 0, 43};  // 64 rows: nothing is padded
  const auto sequences = AttentionSequences::of(Offsets::from_lengths(lengths));
  return attention(q, k, v, sequences, {.mask = bidirectional()});
}

Tensor grouped_heads(const Tensor& q, const Tensor& k, const Tensor& v) {
  // q [64, 8, 16], k [64, 2, 16], v [64, 2, 24]: four query heads share a key head, and y is [64, 8, 24].
  return attention(q, k.slice(1, 0, 2), v.slice(1, 0, 2), AttentionSequences::of(Offsets::single(64)), {});
}

Tensor continued_sequence(const Tensor& q, const Tensor& k, const Tensor& v) {
  // The last 3 of 64 tokens, with the keys of all: queries stand at the end of their keys unless the call says else.
  const AttentionSequences sequences = {Offsets::single(3), Offsets::single(64)};
  return attention(q.rows(61, 64), k, v, sequences, {.mask = causal()});
}

Tensor window_and_first_keys(const Tensor& q, const Tensor& k, const Tensor& v) {
  const AttentionMask mask = (causal() & window(16, 0)) | first_keys(4);
  return attention(q, k, v, AttentionSequences::of(Offsets::single(64)), {.mask = mask});
}

Tensor packed_documents(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::vector<std::int64_t> document(64, 0);  // of each position: two documents in one sequence
  std::fill(document.begin() + 40, document.end(), 1);
  return attention(q, k, v, AttentionSequences::of(Offsets::single(64)), {.mask = causal() & documents({document})});
}

Tensor own_mask(const Tensor& q, const Tensor& k, const Tensor& v) {
  const AttentionMask even_keys = where(
      [](std::int64_t query, std::int64_t key, std::int64_t /*sequence*/) { return key % 2 == 0 || key == query; });
  return attention(q, k, v, AttentionSequences::of(Offsets::single(64)), {.mask = even_keys & causal()});
}

Tensor learned_bias(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor table = require_gradient(Tensor::zeros({32, q.dim(1)}));  // T5's: a number for each bucket and head
  const AttentionRule rule = bidirectional() + distance_bias(table, [](std::int64_t d) { return t5_bucket(d, {}); });
  const Tensor y = attention(q, k, v, AttentionSequences::of(Offsets::single(64)), rule);
  backward(y, Tensor::full(y.shape(), 1));
  return gradient_of(table);  // [32, heads], exact
}

Tensor capped_with_sinks(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor sink = Tensor::zeros({q.dim(1)});  // a score for each head that has no value: weights sum to below 1
  AttentionRule rule = (causal() & window(127, 0)) + soft_cap(50) + sinks(sink);
  rule.scale = 0.125;
  return attention(q, k, v, AttentionSequences::of(Offsets::single(64)), rule);
}

Tensor weights_on_request(const Tensor& q, const Tensor& k) {
  const auto sequences = AttentionSequences::of(Offsets::single(64));
  return attention_weights(q, k, sequences, {.mask = causal()},
                           {.sequence = 0, .begin = 60, .end = 64, .first_head = 2, .heads = 1});
}

namespace {

Tensor random_rows(std::string_view name, std::int64_t width) {
  RandomStream random(RandomKey{.seed = 1}.at(name));
  Tensor x = Tensor::empty({64, 8, width});
  for (float& value : x.mutable_values<float>()) value = static_cast<float>(random.uniform() * 2 - 1);
  return x;
}

void show(const char* name, const Tensor& y) { fmt::print("{:<22} {}\n", name, y.shape().text()); }

void run() {
  const Tensor q = random_rows("q", 16), k = random_rows("k", 16), v = random_rows("v", 24);
  const Tensor whole = one_sequence(q, k, v), last = continued_sequence(q, k, v);
  show("one_sequence", whole);
  show("many_sequences", many_sequences(q, k, v));
  show("grouped_heads", grouped_heads(q, k, v));
  show("continued_sequence", last);
  check(last.to_vector<float>() == whole.rows(61, 64).to_vector<float>(), "a continued sequence has other bits");
  show("window_and_first_keys", window_and_first_keys(q, k, v));
  const Tensor packed = packed_documents(q, k, v);
  show("packed_documents", packed);
  check(packed.rows(0, 40).to_vector<float>() == whole.rows(0, 40).to_vector<float>(),
        "a document among others has other bits");
  show("own_mask", own_mask(q, k, v));
  show("learned_bias", learned_bias(q, k, v));
  show("capped_with_sinks", capped_with_sinks(q, k, v));
  show("weights_on_request", weights_on_request(q, k));
}

}  // namespace
}  // namespace attune

int main() {
  try {
    attune::run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "attention_examples: error: {}\n", error.what());
    return 1;
  }
}
