#include <gtest/gtest.h>

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/conformance/conformance.h"
#include "attune/nn/attention/families/linformer.h"
#include "attune/nn/attention/families/nystromformer.h"
#include "attune/nn/attention/family.h"
#include "attune/tensor/storage.h"

namespace attune {
namespace {

using namespace conformance;

Offsets offsets_of(const std::vector<std::int64_t>& lengths) { return Offsets::from_lengths(lengths); }

Tensor full(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& tokens) {
  return attention(q, k, v, AttentionSequences::of(tokens), {.mask = bidirectional()});
}

Tensor identity(std::int64_t n) {
  Tensor x = Tensor::zeros({n, n});
  for (std::int64_t i = 0; i < n; ++i) x.mutable_data<float>()[i * n + i] = 1;
  return x;
}

// f32 against f64, finite differences, 1 to 3 threads; sequences of several lengths, an empty one and grouped heads.
TEST(Linformer, ReferenceAndGradientsAgree) {
  const Offsets tokens = offsets_of({7, 0, 1, 4});
  for (std::optional<double> scale : {std::optional<double>(), std::optional<double>(0.7)})
    expect_agrees({.run =
                       [=](auto in) {
                         return linformer_attention(in[0], in[1], in[2], tokens, {in[3], in[4], scale});
                       },
                   .inputs = {random_tensor({12, 4, 5}), random_tensor({12, 2, 5}, 2), random_tensor({12, 2, 5}, 3),
                              random_tensor({3, 8}, 4), random_tensor({3, 8}, 5)},
                   .tolerance = 1e-5,
                   .gradient_tolerance = 2e-5});
}

TEST(Linformer, IdentityProjectionsOfAllTokensAreFullAttention) {
  const Tensor q = random_tensor({18, 2, 6}), k = random_tensor({18, 2, 6}, 2), v = random_tensor({18, 2, 6}, 3);
  const Offsets tokens = offsets_of({9, 9});
  EXPECT_LT(
      relative_difference(linformer_attention(q, k, v, tokens, {identity(9), identity(9)}), full(q, k, v, tokens)),
      1e-6);
}

TEST(Linformer, IsTheFormulaOverTheFirstColumns) {
  // One sequence of 5, projections of 3 x 8: softmax(scale q (E k)^T) (F v), written out.
  const Tensor q = random_tensor({5, 1, 4}).to(DType::F64), k = random_tensor({5, 1, 4}, 2).to(DType::F64),
               v = random_tensor({5, 1, 4}, 3).to(DType::F64);
  const Tensor e = random_tensor({3, 8}, 4).to(DType::F64), f = random_tensor({3, 8}, 5).to(DType::F64);
  const Tensor got = linformer_attention(q, k, v, offsets_of({5}), {e, f});
  auto project = [](const Tensor& p, const Tensor& x, int r, int c) {
    double sum = 0;
    for (int t = 0; t < 5; ++t) sum += p.data<double>()[r * 8 + t] * x.data<double>()[t * 4 + c];
    return sum;
  };
  for (int t = 0; t < 5; ++t) {
    double weights[3] = {}, total = 0;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 4; ++c) weights[r] += q.data<double>()[t * 4 + c] * project(e, k, r, c) / 2;
      total += weights[r] = std::exp(weights[r]);
    }
    for (int c = 0; c < 4; ++c) {
      double expected = 0;
      for (int r = 0; r < 3; ++r) expected += weights[r] / total * project(f, v, r, c);
      EXPECT_NEAR(got.data<double>()[t * 4 + c], expected, 1e-12);
    }
  }
}

TEST(Linformer, RefusesALongerSequence) {
  const Tensor x = random_tensor({9, 1, 4});
  EXPECT_THROW(linformer_attention(x, x, x, offsets_of({9}), {random_tensor({3, 8}), random_tensor({3, 8})}), Error);
}

TEST(Nystromformer, ReferenceAndGradientsAgree) {
  const Offsets tokens =
      offsets_of({11, 0, 3, 1, 6});  // longer and shorter than the landmarks, and not divided by them
  expect_agrees(
      {.run =
           [=](auto in) { return nystrom_attention(in[0], in[1], in[2], tokens, {.landmarks = 4, .filters = in[3]}); },
       .inputs = {random_tensor({21, 2, 5}), random_tensor({21, 2, 5}, 2), random_tensor({21, 2, 5}, 3),
                  random_tensor({2, 3}, 4)},
       .tolerance = 2e-5,
       .gradient_tolerance = 1e-3,
       .difference_tolerance = 1e-5});
}

TEST(Nystromformer, IsTransformersForwardAndBackward) {
  const Checkpoint golden =
      Checkpoint::open(Path(ATTUNE_GOLDEN_DIR) / "attention_families" / "nystromformer.safetensors");
  for (const std::string name : {"plain", "convolution", "one_landmark", "exact"}) {
    SCOPED_TRACE(name);
    auto tensor = [&](const std::string& of) { return golden.tensor(name + "/" + of); };
    const bool convolution = golden.contains(name + "/filters");
    const Tensor q = require_gradient(tensor("query").clone()), k = require_gradient(tensor("key").clone()),
                 v = require_gradient(tensor("value").clone());
    NystromRule rule{.landmarks = tensor("landmarks").data<std::int64_t>()[0]};
    if (convolution) rule.filters = require_gradient(tensor("filters").clone());
    const Tensor y = nystrom_attention(q, k, v, Offsets::single(q.dim(0)), rule);
    EXPECT_LT(relative_difference(y, tensor("y")), 2e-5);
    backward(y, tensor("dy").clone());
    EXPECT_LT(relative_difference(gradient_of(q), tensor("dquery")), 1e-4);
    EXPECT_LT(relative_difference(gradient_of(k), tensor("dkey")), 1e-4);
    EXPECT_LT(relative_difference(gradient_of(v), tensor("dvalue")), 1e-4);
    if (convolution) {
      EXPECT_LT(relative_difference(gradient_of(rule.filters), tensor("dfilters")), 1e-4);
    }
  }
}

TEST(Nystromformer, IsExactWhereLandmarksAreTheTokens) {
  const Tensor q = random_tensor({15, 2, 6}), k = random_tensor({15, 2, 6}, 2), v = random_tensor({15, 2, 6}, 3);
  const Offsets tokens = offsets_of({9, 6});
  EXPECT_TRUE(same_bits(nystrom_attention(q, k, v, tokens, {.landmarks = 9}), full(q, k, v, tokens)));
}

TEST(Nystromformer, IsExactWhereTokensOfASegmentAreAlike) {
  // Three distinct tokens, each four times over: the landmarks are those three, the weights of rank 3, and the
  // approximation through them is the matrix itself (with steps enough for the inverse).
  const Tensor three = random_tensor({3, 1, 6}, 1, 2).to(DType::F64);
  Tensor x = Tensor::empty({12, 1, 6}, DType::F64);
  for (std::int64_t t = 0; t < 12; ++t) copy_into(three.rows(t / 4, t / 4 + 1), x.rows(t, t + 1));
  const Tensor v = random_tensor({12, 1, 6}, 3).to(DType::F64);
  const Offsets tokens = offsets_of({12});
  EXPECT_LT(relative_difference(nystrom_attention(x, x, v, tokens, {.landmarks = 3, .inverse_steps = 30}),
                                full(x, x, v, tokens)),
            1e-9);
}

/// A family of a config in a MultiHead's place.
struct Small {
  Small(const Json& config, std::int64_t longest)
      : set({.checkpoint = nullptr, .initial = {7, 0, 0}, .trainable = true}, {}),
        parts(build_family(ConfigReader(config, "a test's config"),
                           {.causal = false, .sizes = {2, 2, 6}, .hidden_size = 12, .longest = longest},
                           Weights(set))) {}
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Batch& batch) const {
    return parts.mixer->mix({q, k, v, q, batch, {}, parts.rule});
  }
  ParameterSet set;
  FamilyParts parts;
};

Batch batch_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::vector<std::int64_t>> ids;
  for (std::int64_t n : lengths) ids.emplace_back(static_cast<std::size_t>(n), 0);
  return Batch::of(ids);
}

const Json& configs() {
  static const Json both = {{{"family", "linformer"}, {"rank", 5}},
                            {{"family", "nystromformer"}, {"num_landmarks", 5}, {"conv_kernel_size", 3}}};
  return both;
}

TEST(LowRankFamilies, ASequenceHasTheBitsThatItHasAlone) {
  const std::vector<std::int64_t> lengths = {17, 0, 3, 30, 1};
  const Batch batch = batch_of(lengths);
  const Tensor q = random_tensor({51, 2, 6}), k = random_tensor({51, 2, 6}, 2), v = random_tensor({51, 2, 6}, 3);
  for (const Json& config : configs()) {
    const Small family(config, 64);
    const Tensor together = family(q, k, v, batch).detached();
    for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
      const std::int64_t begin = batch.offsets.begin(s), end = batch.offsets.end(s);
      const Tensor alone = family(q.rows(begin, end), k.rows(begin, end), v.rows(begin, end), batch_of({end - begin}));
      EXPECT_TRUE(same_bits(alone.detached(), together.rows(begin, end))) << config << " sequence " << s;
    }
  }
}

TEST(LowRankFamilies, EveryWeightLearns) {
  const Tensor x = random_tensor({20, 2, 6});
  for (const Json& config : configs()) {
    const Small family(config, 32);
    EXPECT_FALSE(family.set.all().empty());
    for (int step = 0; step < 2; ++step) {  // a tape is used once
      const Tensor y = family(x, x, x, batch_of({20}));
      backward(y, random_tensor(y.shape(), 4));
    }
    for (const Parameter& p : family.set.all()) {
      double size = 0;
      for (float g : gradient_of(p.value).to_vector<float>()) size += std::abs(static_cast<double>(g));
      EXPECT_GT(size, 1e-3) << p.name;
    }
  }
}

TEST(LowRankFamilies, MemoryIsLinearInLength) {
  for (const Json& config : configs()) {
    auto peak = [&](std::int64_t length) {
      const Small family(config, 8192);
      const Tensor x = require_gradient(random_tensor({length, 2, 6}));
      const std::int64_t before = allocator_statistics().bytes_in_use;
      reset_peak_in_use();
      const Tensor y = family(x, x, x, batch_of({length}));
      backward(y, random_tensor(y.shape(), 4));
      return allocator_statistics().peak_in_use - before;
    };
    // A map of scores would need 16 times as much for 4 times the tokens.
    EXPECT_LT(static_cast<double>(peak(8192)), 4.2 * static_cast<double>(peak(2048))) << config;
  }
}

TEST(LowRankFamilies, RefuseWhatTheyCannotDo) {
  EXPECT_THROW(Small({{"family", "linformer"}}, 0), Error);  // no length to project
  EXPECT_THROW(Small({{"family", "nystromformer"}, {"conv_kernel_size", 4}}, 0), Error);
  auto error = [](const Json& rank, std::int64_t longest) -> std::string {
    try {
      Small({{"family", "linformer"}, {"rank", rank}}, longest);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error(9, 8).find("\"rank\" is 9"), std::string::npos) << error(9, 8);
  EXPECT_NE(error(9, 8).find("8 tokens (the model's max_position_embeddings)"), std::string::npos) << error(9, 8);
  EXPECT_EQ(error(8, 8), "");
  EXPECT_EQ(error(nullptr, 8), "");  // 128, or as many as there are tokens
  EXPECT_NE(error(1000000000, 8).find("at most"), std::string::npos);
  EXPECT_NE(error(4, 1 << 30).find("max_position_embeddings"), std::string::npos);
  ParameterSet set({.checkpoint = nullptr, .initial = {}}, {});
  const Json grouped = {{"family", "nystromformer"}}, decoder = {{"family", "linformer"}};
  EXPECT_THROW(build_family(ConfigReader(grouped, "a test"), {.causal = false, .sizes = {4, 2, 8}}, Weights(set)),
               Error);
  EXPECT_THROW(build_family(ConfigReader(decoder, "a test"), {.causal = true, .longest = 8}, Weights(set)), Error);
}

}  // namespace
}  // namespace attune
