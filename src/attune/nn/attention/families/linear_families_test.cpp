// The families on linear_recurrence(): each against PyTorch's formula
// (tests/golden/attention_families/linear.safetensors, made by tools/golden/linear_attention.py), and what defines it.
#include <gtest/gtest.h>

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/conformance/conformance.h"
#include "attune/nn/attention/families/performer.h"
#include "attune/nn/attention/family.h"
#include "attune/ops/activation.h"
#include "attune/ops/exponential_features.h"
#include "attune/ops/layer_norm.h"
#include "attune/ops/linear.h"
#include "attune/ops/linear_recurrence.h"
#include "attune/ops/view.h"
#include "attune/tensor/storage.h"

namespace attune {
namespace {

using conformance::random_tensor;
using conformance::relative_difference;
using conformance::same_bits;

constexpr std::int64_t heads = 2, width = 8, hidden = 12;

Batch batch_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::vector<std::int64_t>> ids;
  for (std::int64_t n : lengths) ids.emplace_back(static_cast<std::size_t>(n), 0);
  return Batch::of(ids);
}

/// A family in the place of a MultiHead's attention, with weights of a golden or fresh ones.
struct Mixer {
  Mixer(Json config, WeightSource source, std::string_view scope = "", bool is_causal = true)
      : set(std::move(source), {}),
        parts(build_family(ConfigReader(config, "a test's config"),
                           {.causal = is_causal, .sizes = {heads, heads, width}, .hidden_size = hidden},
                           scope.empty() ? Weights(set) : Weights(set) / scope)) {}
  explicit Mixer(Json config, bool is_causal = true, DType type = DType::F32)
      : Mixer(std::move(config), {.checkpoint = nullptr, .initial = {7, 0, 0}, .trainable = true, .type = type}, "",
              is_causal) {}

  Tensor operator()(const std::vector<Tensor>& qkvx, const Batch& batch) const {
    return parts.mixer->mix({qkvx[0], qkvx[1], qkvx[2], qkvx[3], batch, {}, parts.rule});
  }

  ParameterSet set;
  FamilyParts parts;
};

std::vector<Tensor> random_inputs(std::int64_t tokens, std::uint64_t seed = 1) {
  std::vector<Tensor> in;
  for (std::uint64_t i = 0; i < 3; ++i) in.push_back(random_tensor({tokens, heads, width}, seed + i));
  in.push_back(random_tensor({tokens, hidden}, seed + 3));
  return in;
}

const std::vector<std::string> every_family = {"linear", "performer", "retnet", "gla"};
Json config_of(const std::string& family) { return {{"family", family}}; }

class LinearFamily : public testing::TestWithParam<std::string> {};

TEST_P(LinearFamily, ReferenceAndGradientsAgree) {
  for (bool is_causal : {true, false}) {
    if (!is_causal && (GetParam() == "retnet" || GetParam() == "gla")) continue;
    const Mixer f32(config_of(GetParam()), is_causal), f64(config_of(GetParam()), is_causal, DType::F64);
    const Batch batch = batch_of({7, 0, 1, 35});
    conformance::expect_agrees(
        {.run =
             [&](auto in) {
               return (in[0].dtype() == DType::F64 ? f64 : f32)({in[0], in[1], in[2], in[3]}, batch);
             },
         .inputs = random_inputs(43),
         .tolerance = 1e-5,  // of a normalised head every error is relative to its deviation
         .gradient_tolerance = 5e-5});
  }
}

TEST_P(LinearFamily, ADecoderNeverSeesTheFuture) {
  const Mixer mixer(config_of(GetParam()));
  const Batch batch = batch_of({70});
  const std::vector<Tensor> in = random_inputs(70), other = random_inputs(70, 50);
  const Tensor before = mixer(in, batch);
  for (std::int64_t t : {0, 31, 32, 68}) {
    std::vector<Tensor> changed;
    for (std::size_t i = 0; i < in.size(); ++i)
      changed.push_back(concatenate_rows({in[i].rows(0, t + 1), other[i].rows(t + 1, 70)}));
    const Tensor after = mixer(changed, batch);
    EXPECT_TRUE(same_bits(after.rows(0, t + 1), before.rows(0, t + 1))) << t;
    EXPECT_FALSE(same_bits(after, before));
  }
}

TEST_P(LinearFamily, SequenceAloneHasTheBitsOfTheBatch) {
  const Mixer mixer(config_of(GetParam()));
  const std::vector<Tensor> in = random_inputs(90);
  const Tensor whole = mixer(in, batch_of({50, 3, 37}));
  std::vector<Tensor> last;
  for (const Tensor& x : in) last.push_back(x.rows(53, 90).clone());
  EXPECT_TRUE(same_bits(mixer(last, batch_of({37})), whole.rows(53, 90)));
}

TEST_P(LinearFamily, DropoutOfWeightsThatAreNotThereIsAnError) {
  const Mixer mixer(config_of(GetParam()));
  const std::vector<Tensor> in = random_inputs(4);
  const Batch batch = batch_of({4});
  AttentionRule rule = mixer.parts.rule;
  rule.dropout.rate = 0.1f;
  EXPECT_THROW(mixer.parts.mixer->mix({in[0], in[1], in[2], in[3], batch, {}, rule}), Error);
}

INSTANTIATE_TEST_SUITE_P(All, LinearFamily, testing::ValuesIn(every_family), [](const auto& p) { return p.param; });

TEST(LinearFamilies, RetentionAndGatedLinearAttentionAreNoEncoders) {
  for (const char* family : {"retnet", "gla"}) EXPECT_THROW(Mixer(config_of(family), false), Error);
  EXPECT_THROW(Mixer({{"family", "gla"}, {"gate_temperature", 0}}), Error);
  EXPECT_THROW(Mixer({{"family", "gla"}, {"gate_temperature", 1e-300}}), Error);
  EXPECT_THROW(Mixer({{"family", "gla"}, {"gate_temperature", 1e300}}), Error);
  EXPECT_THROW(Mixer({{"family", "performer"}, {"features", 0}}), Error);
}

// ---- against PyTorch

struct Golden {
  Checkpoint file = Checkpoint::open(Path(ATTUNE_GOLDEN_DIR) / "attention_families" / "linear.safetensors");
  Batch batch = batch_of({23, 17});

  Tensor operator()(const std::string& name) const { return file.tensor(name).clone(); }
  std::vector<Tensor> inputs() const {
    std::vector<Tensor> leaves;
    for (const char* name : {"q", "k", "v", "x"})
      leaves.push_back(require_gradient((*this)(std::string("inputs.") + name)));
    return leaves;
  }
  void expect(const std::string& name, const Tensor& y, const std::vector<Tensor>& leaves) const {
    EXPECT_LT(relative_difference(y, (*this)(name + ".y")), 1e-5) << name;
    backward(y, (*this)("dy"));
    const std::string letters = "qkvx";
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const std::string gradient = name + ".d" + letters[i];
      if (file.contains(gradient)) {
        EXPECT_LT(relative_difference(gradient_of(leaves[i]), (*this)(gradient)), 5e-5) << gradient;
      }
    }
  }
};

TEST(LinearFamilies, LinearAttentionIsTheNormalisedKernel) {
  const Golden golden;
  for (bool is_causal : {true, false}) {
    const std::vector<Tensor> in = golden.inputs();
    golden.expect(is_causal ? "linear.causal" : "linear.whole", Mixer(config_of("linear"), is_causal)(in, golden.batch),
                  in);
  }
}

TEST(LinearFamilies, PerformerIsTheNormalisedKernelOfItsFeatures) {
  const Golden golden;
  for (bool is_causal : {true, false}) {
    const std::vector<Tensor> in = golden.inputs();
    golden.expect(is_causal ? "performer.causal" : "performer.whole",
                  performer_attention(in[0], in[1], in[2], golden.batch.offsets,
                                      {golden("projection"), 1 / std::sqrt(8.0), is_causal}),
                  in);
  }
}

TEST(LinearFamilies, RetentionAndGatedLinearAttentionAreTheirPapersFormulas) {
  for (const std::string family : {"retnet", "gla"}) {
    const Golden golden;
    const auto checkpoint = std::make_shared<Checkpoint>(golden.file);
    Json config = config_of(family);
    if (family == "gla") config["gate_rank"] = 4;
    const Mixer mixer(config, {.checkpoint = checkpoint, .initial = {}, .trainable = true}, family);
    const std::vector<Tensor> in = golden.inputs();
    golden.expect(family, mixer(in, golden.batch), in);
    for (const Parameter& parameter : mixer.set.all())
      EXPECT_LT(relative_difference(gradient_of(parameter.value), golden(parameter.name + ".gradient")), 5e-5)
          << parameter.name;
  }
}

// ---- what defines them

/// Features of rows of x [rows, width], f64.
Tensor features(const Tensor& x, const Tensor& projection) {
  return exponential_features(linear(x, LinearWeight(projection)), x);
}

struct Estimate {
  double mean = 0, variance = 0, exact = 0;
};
/// Of exp(q . k) by `draws` projections.
Estimate estimate(bool orthogonal, std::int64_t draws, std::int64_t count) {
  const Tensor q = random_tensor({1, width}, 1, 0.25).to(DType::F64),
               k = random_tensor({1, width}, 2, 0.25).to(DType::F64);
  Estimate e;
  double product = 0, squares = 0;
  for (std::int64_t c = 0; c < width; ++c) product += q.data<double>()[c] * k.data<double>()[c];
  e.exact = std::exp(product);
  for (std::int64_t i = 0; i < draws; ++i) {
    const Tensor projection =
        performer_projection({count, width, orthogonal}, RandomKey{5, 0, 0}.at(static_cast<std::uint64_t>(i)));
    const Tensor fq = features(q, projection), fk = features(k, projection);
    double one = 0;
    for (std::int64_t m = 0; m < count; ++m) one += fq.data<double>()[m] * fk.data<double>()[m];
    e.mean += one / static_cast<double>(draws), squares += one * one / static_cast<double>(draws);
  }
  e.variance = squares - e.mean * e.mean;
  return e;
}

TEST(LinearFamilies, PerformersKernelEstimateIsUnbiasedAndOrthogonalFeaturesVaryLess) {
  constexpr std::int64_t draws = 20000;
  const Estimate independent = estimate(false, draws, width), orthogonal = estimate(true, draws, width);
  for (const Estimate& e : {independent, orthogonal}) {
    const double error = std::sqrt(e.variance / draws);
    EXPECT_LT(std::abs(e.mean - e.exact), 4 * error);
    EXPECT_LT(error, 0.02 * e.exact);  // so that a bias would show
  }
  EXPECT_LT(orthogonal.variance, 0.9 * independent.variance);
}

TEST(LinearFamilies, PerformersProjectionIsOrthogonalInGroupsAndAsLongAsNormalVectors) {
  const std::int64_t count = 3 * width - 2;
  const Tensor p = performer_projection({count, width}, {3, 0, 0});
  const auto dot = [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c) sum += p.data<double>()[i * width + c] * p.data<double>()[j * width + c];
    return sum;
  };
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      if (i / width == j / width) {
        EXPECT_NEAR(dot(i, j), 0, 1e-12);
      }
  double mean_square = 0;
  const Tensor many = performer_projection({1000 * width, width}, {4, 0, 0});
  for (double x : many.values<double>()) mean_square += x * x / static_cast<double>(many.numel());
  EXPECT_NEAR(mean_square, 1, 0.03);
}

TEST(LinearFamilies, PerformerComesNearSoftmaxAttentionAsFeaturesGrow) {
  const std::int64_t n = 30;
  const Tensor q = random_tensor({n, 1, width}, 1, 0.6), k = random_tensor({n, 1, width}, 2, 0.6),
               v = random_tensor({n, 1, width}, 3);
  const Offsets s = Offsets::single(n);
  const Tensor exact = attention(q, k, v, AttentionSequences::of(s), {.mask = causal()});
  const auto error = [&](std::int64_t count) {
    double mean = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed)
      mean += relative_difference(
          performer_attention(q, k, v, s,
                              {performer_projection({count, width}, {seed, 0, 0}).to(DType::F32), 1 / std::sqrt(8.0)}),
          exact);
    return mean / 8;
  };
  const double few = error(32), many = error(2048);
  EXPECT_LT(many, few / 3);  // 64 times the features: an eighth of the error where it is small
  EXPECT_LT(many, 0.1);
}

TEST(LinearFamilies, PerformersScalesOfFarQueriesDoNotOverflow) {
  const Tensor q = random_tensor({9, 1, width}, 1, 300), k = random_tensor({9, 1, width}, 2),
               v = random_tensor({9, 1, width}, 3);
  const Tensor y = performer_attention(q, k, v, Offsets::single(9),
                                       {performer_projection({32, width}, {1, 0, 0}).to(DType::F32), 0.35});
  double largest = 0, most = 0;
  for (float x : v.values<float>()) most = std::max<double>(most, std::abs(x));
  for (float x : y.values<float>()) largest = std::max<double>(largest, std::abs(x));
  EXPECT_GT(largest, 0);
  EXPECT_LE(largest, most * 1.00001);  // a mean of values; NaN is not
}

TEST(LinearFamilies, PerformerRedrawsItsFeaturesBySteps) {
  const Mixer mixer({{"family", "performer"}, {"features", 16}, {"seed", 3}, {"redraw", 10}});
  const std::vector<Tensor> in = random_inputs(12);
  Batch batch = batch_of({12});
  const Tensor evaluated = mixer(in, batch);
  const auto at_step = [&](std::uint64_t step) {
    batch.dropout = RandomKey{1, step, 0};
    return mixer(in, batch);
  };
  EXPECT_TRUE(same_bits(at_step(9), at_step(0)));
  EXPECT_FALSE(same_bits(at_step(10), at_step(9)));
  EXPECT_TRUE(same_bits(at_step(10), at_step(19)));
  batch.dropout.reset();
  EXPECT_TRUE(same_bits(mixer(in, batch), evaluated));
  EXPECT_FALSE(same_bits(Mixer({{"family", "performer"}, {"features", 16}, {"seed", 4}})(in, batch), evaluated));
}

TEST(LinearFamilies, GatedLinearAttentionWithOpenGatesIsUnnormalisedLinearAttention) {
  // Every a_t = 1: what the gates' bias tends to as it grows.
  const Mixer mixer(config_of("gla"));
  for (float& bias : mixer.set.find("gk_proj.1.bias")->value.mutable_values<float>()) bias = 1000;
  const std::vector<Tensor> in = random_inputs(60);
  const Batch batch = batch_of({25, 35});
  const Tensor sums = linear_recurrence(in[0], in[1], in[2], batch.offsets, {.scale = 1 / std::sqrt(8.0)});
  const Tensor expected = layer_norm(sums, Tensor::full({width}, 1), Tensor::zeros({width}), 1e-5);
  const Tensor gate =
      reshape(linear(in[3], LinearWeight(mixer.set.find("g_proj.weight")->value.detached())), sums.shape());
  EXPECT_LT(relative_difference(mixer(in, batch), gated(gate, expected, Activation::silu)), 1e-5);
}

TEST(LinearFamilies, RetentionDependsOnDistancesAlone) {
  // The same tokens later in a sequence: turned further, both by as much. (The first ones see nothing before.)
  const Mixer mixer(config_of("retnet"), true, DType::F64);
  std::vector<Tensor> in = random_inputs(20);
  for (Tensor& x : in) x = x.to(DType::F64);
  Batch batch = batch_of({20});
  const Tensor here = mixer(in, batch);
  for (std::int64_t& position : batch.positions.mutable_values<std::int64_t>()) position += 1000;
  EXPECT_LT(relative_difference(mixer(in, batch), here), 1e-9);
}

TEST(LinearFamilies, AModelsRotaryPositionsTakeThePlaceOfRetentionsOwn) {
  const Mixer mixer(config_of("retnet"));
  const std::vector<Tensor> in = random_inputs(20);
  Batch batch = batch_of({20});
  const Tensor own = mixer(in, batch);
  batch.rotary = {RotaryTable{Tensor::full({20, width / 2}, 1), Tensor::zeros({20, width / 2})}};
  EXPECT_FALSE(same_bits(mixer(in, batch), own));  // q and k are taken as turned
}

}  // namespace
}  // namespace attune
