// The families that remember: Transformer-XL, recurrent memory and kNN memory. Goldens:
// tools/golden/memory_attention.py.
#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/conformance/conformance.h"
#include "attune/nn/attention/family.h"
#include "attune/nn/attention/recurrent_memory.h"
#include "attune/nn/memory/key_memory.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/view.h"

namespace attune {
namespace {

using conformance::random_tensor;
using conformance::relative_difference;
using conformance::same_bits;

struct StackSizes {
  std::int64_t hidden = 10, heads = 3, kv_heads = 3, head_dim = 4;
  int layers = 2;
  bool residual = true;
};

/// Attention sublayers of one family, x + attention(x) or attention(x) alone.
struct Layers {
  Layers(const Json& config, const StackSizes& s, DType type, std::shared_ptr<const Checkpoint> file = nullptr)
      : sizes(s), set({.checkpoint = file, .initial = {7, 0, 0}, .trainable = true, .type = type}, {}) {
    const ConfigReader reader(config, "a test's config");
    const LinearOptions dense{.bias = false, .deviation = 0.4};
    for (int i = 0; i < sizes.layers; ++i) {
      const Weights w = Weights(set) / i;
      const AttentionSizes a{sizes.heads, sizes.kv_heads, sizes.head_dim};
      FamilyParts parts = build_family(
          reader, {.causal = true, .sizes = a, .hidden_size = sizes.hidden, .layer = i, .layers = sizes.layers}, w);
      recurrence = parts.recurrence ? parts.recurrence : recurrence;
      layers.push_back({.query = Linear(w / "q", sizes.hidden, a.query_width(), dense),
                        .key = Linear(w / "k", sizes.hidden, a.kv_width(), dense),
                        .value = Linear(w / "v", sizes.hidden, a.kv_width(), dense),
                        .output = Linear(w / "o", a.query_width(), sizes.hidden, dense),
                        .sizes = a,
                        .rule = parts.rule,
                        .family = parts.mixer});
    }
  }
  Tensor layer(int i, const Tensor& x, const Batch& batch) const {
    const Tensor y = layers[static_cast<std::size_t>(i)].self(x, batch, {Stack::decoder, i}, nullptr);
    return sizes.residual ? add(x, y) : y;
  }
  Tensor operator()(Tensor x, const Batch& batch) const {
    for (int i = 0; i < sizes.layers; ++i) x = layer(i, x, batch);
    return x;
  }

  StackSizes sizes;
  ParameterSet set;
  std::shared_ptr<const RecurrentMemory> recurrence;
  std::vector<MultiHead> layers;
};

Batch batch_of(const std::vector<std::int64_t>& lengths, std::int64_t first_example = 0) {
  std::vector<std::vector<std::int64_t>> ids;
  for (std::int64_t n : lengths) ids.emplace_back(static_cast<std::size_t>(n), 0);
  return Batch::of(ids, first_example);
}

std::shared_ptr<const Checkpoint> golden(const std::string& name) {
  return std::make_shared<const Checkpoint>(
      Checkpoint::open(Path(ATTUNE_GOLDEN_DIR) / "memory_attention" / (name + ".safetensors")));
}

/// y and all gradients of a golden file, in f64 and in f32.
void expect_golden(const std::string& name, const Json& config, const StackSizes& sizes) {
  const auto file = golden(name);
  for (DType type : {DType::F64, DType::F32}) {
    const Layers model(config, sizes, type, file);
    const Tensor x = require_gradient(file->tensor("x").to(type));
    const Batch batch = batch_of({11, 5, 1});
    const Tensor y = model.recurrence
                         ? (*model.recurrence)(x, batch, [&](const Tensor& in, const Batch& b) { return model(in, b); })
                         : model(x, batch);
    const double tolerance = type == DType::F64 ? 1e-6 : 1e-5;  // the files are f32
    EXPECT_LT(relative_difference(y.detached().to(DType::F32), file->tensor("y")), tolerance) << name;
    backward(y, file->tensor("dy").to(type));
    auto expect_gradient = [&](const std::string& of, const Tensor& leaf) {
      ASSERT_TRUE(gradient_of(leaf).defined()) << of;
      EXPECT_LT(relative_difference(gradient_of(leaf).to(DType::F32), file->tensor("gradient/" + of)), tolerance)
          << name << ": " << of;
    };
    expect_gradient("x", x);
    std::size_t checked = 1;
    for (const Parameter& p : model.set.all())
      if (file->contains("gradient/" + p.file_name)) expect_gradient(p.file_name, p.value), ++checked;
    std::size_t expected = 0;
    for (const std::string& known : file->names()) expected += known.starts_with("gradient/");
    EXPECT_EQ(checked, expected) << name;
  }
}

const Json xl_config = {{"family", "transformer_xl"}, {"segment", 4}, {"memory", 6}};
const Json knn_config = {{"family", "knn"}, {"layer", 0}, {"local", 3}, {"neighbours", 2}};
const StackSizes knn_sizes = {.kv_heads = 1, .layers = 1, .residual = false};

TEST(TransformerXl, IsThePublishedComputationSegmentBySegment) { expect_golden("transformer_xl", xl_config, {}); }
TEST(Knn, IsTheFormulaOfThePaper) { expect_golden("knn", knn_config, knn_sizes); }
TEST(RecurrentMemory, IsTheEquationsOfThePaper) {
  expect_golden("recurrent_memory", {{"family", "recurrent_memory"}, {"segment", 4}, {"memory_tokens", 2}}, {});
}

TEST(TransformerXl, ParallelFormIsTheCachedOneBitForBit) {
  // Segment by segment, with nothing but each layer's input of the 6 tokens before: one call a segment.
  const Layers model(xl_config, {}, DType::F32);
  const Tensor x = random_tensor({14, 10});
  const Tensor whole = model(x, batch_of({14})).detached();
  std::vector<Tensor> cache(2, Tensor::zeros({0, 10}));
  for (std::int64_t begin = 0; begin < 14; begin += 4) {
    const std::int64_t end = std::min<std::int64_t>(14, begin + 4);
    Tensor state = x.rows(begin, end);
    for (int i = 0; i < 2; ++i) {
      Tensor& past = cache[static_cast<std::size_t>(i)];
      const Tensor seen = concatenate_rows({past, state});
      // Rows in front, out of the memory's reach, so that the segment begins at a multiple of 4.
      const Tensor padded = concatenate_rows({Tensor::zeros({(4 - past.dim(0) % 4) % 4, 10}), seen});
      const Tensor out = model.layer(i, padded, batch_of({padded.dim(0)})).detached();
      past = seen.rows(std::max<std::int64_t>(0, seen.dim(0) - 6), seen.dim(0)).clone();
      state = out.rows(out.dim(0) - (end - begin), out.dim(0)).clone();
    }
    EXPECT_TRUE(same_bits(state, whole.rows(begin, end))) << begin;
  }
}

TEST(TransformerXl, NoGradientFlowsThroughTheMemoryAndItsInformationDoes) {
  const Layers model({{"family", "transformer_xl"}, {"segment", 4}}, {}, DType::F32);
  const Tensor x = require_gradient(random_tensor({8, 10}));
  backward(row_range(model(x, batch_of({8})), 4, 8), random_tensor({4, 10}, 3));
  for (float g : gradient_of(x).rows(0, 4).to_vector<float>()) EXPECT_EQ(g, 0);
  Tensor changed = x.detached().clone();
  changed.mutable_data<float>()[0] += 1;
  EXPECT_FALSE(
      same_bits(model(changed, batch_of({8})).detached().rows(4, 8), model(x, batch_of({8})).detached().rows(4, 8)));
}

TEST(TransformerXl, OneSegmentWithoutMemoryFallsBackToItsOwnTokens) {
  // memory 0: segments are sequences of their own.
  const Layers model({{"family", "transformer_xl"}, {"segment", 4}, {"memory", 0}}, {}, DType::F32);
  const Tensor x = random_tensor({8, 10});
  EXPECT_TRUE(same_bits(model(x, batch_of({8})).detached(), model(x, batch_of({4, 4})).detached()));
}

/// What every causal family promises.
void expect_causal_and_alone(const Json& config, const StackSizes& sizes) {
  const Layers model(config, sizes, DType::F32);
  const std::vector<std::int64_t> lengths = {13, 0, 4, 1, 9};
  const Batch batch = batch_of(lengths);
  const Tensor x = random_tensor({batch.tokens(), sizes.hidden});
  const Tensor together = model(x, batch).detached();
  const int threads = num_threads();
  for (int n : {1, 3}) {
    set_num_threads(n);
    EXPECT_TRUE(same_bits(model(x, batch).detached(), together));
  }
  set_num_threads(threads);
  for (std::int64_t i = 0; i < batch.offsets.count(); ++i) {
    const std::int64_t begin = batch.offsets.begin(i), end = batch.offsets.end(i);
    if (begin == end) continue;
    EXPECT_TRUE(same_bits(model(x.rows(begin, end), batch_of({end - begin}, i)).detached(), together.rows(begin, end)));
  }
  for (std::int64_t t : {0, 2, 3, 7, 11}) {
    Tensor changed = x.clone();
    changed.mutable_data<float>()[(t + 1) * sizes.hidden] += 3;
    const Tensor after = model(changed, batch).detached();
    EXPECT_TRUE(same_bits(after.rows(0, t + 1), together.rows(0, t + 1))) << t;
    EXPECT_FALSE(same_bits(after.rows(t + 1, 13), together.rows(t + 1, 13))) << t;
  }
}

TEST(TransformerXl, NoLaterTokenIsSeenAndASequenceAloneHasItsBits) { expect_causal_and_alone(xl_config, {}); }
TEST(Knn, NoLaterTokenIsSeenAndASequenceAloneHasItsBits) {
  expect_causal_and_alone(knn_config, knn_sizes);
  Json searched = knn_config;
  searched["exact_up_to"] = 0;  // by the graph
  expect_causal_and_alone(searched, knn_sizes);
}

TEST(TransformerXl, DropoutOfSegmentsDiffersAndDoesNotDependOnTheBatch) {
  Layers model(xl_config, {.layers = 1, .residual = false}, DType::F32);
  model.layers[0].dropout = 0.5;
  Batch both = batch_of({9, 8}, 4), second = batch_of({8}, 5);
  both.dropout = second.dropout = RandomKey{1, 2, 3};
  const Tensor x = random_tensor({17, 10});
  EXPECT_TRUE(same_bits(model(x, both).detached().rows(9, 17), model(x.rows(9, 17), second).detached()));
}

/// Attention of each token to those `local` or more before it, with no gradient to their keys: the memory part alone.
TEST(Knn, MemoryOfAllPastTokensIsFullAttentionOverThem) {
  Json config = knn_config;
  config["neighbours"] = 100;
  Layers model(config, knn_sizes, DType::F32);
  // The gate wide open: sigmoid(200) is 1, so that what comes out is the memory part where there is one.
  std::ranges::fill(model.set.find("0.memory_gate")->value.mutable_values<float>(), 200.0f);
  const Tensor x = random_tensor({13, 10});
  const Tensor got = model(x, batch_of({13})).detached();
  MultiHead plain = model.layers[0];
  plain.family = nullptr;
  plain.rule = {.mask = where([](std::int64_t query, std::int64_t key, std::int64_t) { return key <= query - 3; })};
  const Tensor full = plain.self(x, batch_of({13}), {Stack::decoder, 0}, nullptr).detached();
  EXPECT_LT(relative_difference(got.rows(3, 13), full.rows(3, 13)), 1e-6);
  // Before that, what is local.
  plain.rule = {.mask = causal() & window(2, 0)};
  EXPECT_LT(relative_difference(got.rows(0, 3),
                                plain.self(x, batch_of({13}), {Stack::decoder, 0}, nullptr).detached().rows(0, 3)),
            1e-6);
}

TEST(Knn, ShutGateLeavesTheWindow) {
  Layers model(knn_config, knn_sizes, DType::F32);
  std::ranges::fill(model.set.find("0.memory_gate")->value.mutable_values<float>(), -200.0f);
  const Tensor x = random_tensor({13, 10});
  MultiHead plain = model.layers[0];
  plain.family = nullptr;
  EXPECT_TRUE(same_bits(model(x, batch_of({13})).detached(),
                        plain.self(x, batch_of({13}), {Stack::decoder, 0}, nullptr).detached()));
}

TEST(Knn, GraphFindsWhatTheExactSearchFindsInAShortText) {
  Json searched = knn_config;
  searched["exact_up_to"] = 0;
  const Layers exact(knn_config, knn_sizes, DType::F32), graph(searched, knn_sizes, DType::F32);
  const Tensor x = random_tensor({40, 10});
  EXPECT_TRUE(same_bits(exact(x, batch_of({40})).detached(), graph(x, batch_of({40})).detached()));
}

TEST(Knn, NoGradientFlowsIntoTheMemory) {
  const Layers model(knn_config, knn_sizes, DType::F32);
  const Tensor x = require_gradient(random_tensor({9, 10}));
  backward(row_range(model(x, batch_of({9})), 8, 9), random_tensor({1, 10}, 3));
  for (float g : gradient_of(x).rows(0, 6).to_vector<float>()) EXPECT_EQ(g, 0);  // tokens 6 to 8 are local
}

TEST(Knn, OneLayerHasTheMemoryAndTheOthersTheWindow) {
  Json config = {{"family", "knn"}, {"local", 3}};
  const Layers model(config, {.layers = 4}, DType::F32);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(model.layers[static_cast<std::size_t>(i)].family != nullptr, i == 2) << i;
  config["layer"] = 4;
  EXPECT_THROW(Layers(config, {.layers = 4}, DType::F32), Error);
}

/// Fills a memory from one text and reads another with it.
struct Recorded {
  Layers model{knn_config, knn_sizes, DType::F32};
  KeyMemory memory{{.kv_heads = 1, .head_dim = 4}};
  Tensor x = random_tensor({6, 10}, 5);

  Recorded() {
    Batch batch = batch_of({7, 5}, 40);
    batch.record = &memory;
    model(random_tensor({12, 10}, 9), batch);
  }
  Tensor read() const {
    Batch batch = batch_of({6});
    batch.lookup = &memory;
    return model(x, batch).detached();
  }
  Tensor without() const { return model(x, batch_of({6})).detached(); }
};

TEST(Knn, OtherTextsAreLookedUpAndEditedWithoutTraining) {
  Recorded r;
  ASSERT_EQ(r.memory.size(), 12);
  EXPECT_EQ(r.memory.document_of(6), 40);
  EXPECT_EQ(r.memory.document_of(7), 41);
  const Tensor before = r.read();
  EXPECT_FALSE(same_bits(before, r.without()));
  EXPECT_FALSE(same_bits(before.rows(0, 1), r.without().rows(0, 1)));  // the first token finds others' keys

  // Replaced: the entry's effect changes, and comes back with the old key and value.
  const Tensor k = r.memory.keys().rows(0, 12).clone(), v = r.memory.values().rows(0, 12).clone();
  for (std::int64_t i = 0; i < 12; ++i) r.memory.replace(i, k.rows(i, i + 1), random_tensor({1, 1, 4}, 70));
  EXPECT_FALSE(same_bits(r.read(), before));
  for (std::int64_t i = 0; i < 12; ++i) r.memory.replace(i, k.rows(i, i + 1), v.rows(i, i + 1));
  EXPECT_TRUE(same_bits(r.read(), before));

  // Removed: as if it had never been there.
  EXPECT_EQ(r.memory.remove_document(40), 7);
  KeyMemory second({.kv_heads = 1, .head_dim = 4});
  second.add(k.rows(7, 12), v.rows(7, 12));
  Batch batch = batch_of({6});
  batch.lookup = &second;
  EXPECT_TRUE(same_bits(r.read(), r.model(r.x, batch).detached()));
  EXPECT_EQ(r.memory.remove_document(41), 5);
  EXPECT_TRUE(same_bits(r.read(), r.without()));
}

TEST(Knn, MemoryOfAnotherShapeIsRefused) {
  Recorded r;
  KeyMemory other({.kv_heads = 1, .head_dim = 5});
  other.add(random_tensor({1, 1, 5}), random_tensor({1, 1, 5}));
  Batch batch = batch_of({6});
  batch.lookup = &other;
  EXPECT_THROW(r.model(r.x, batch), Error);
}

}  // namespace
}  // namespace attune
