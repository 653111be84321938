// Every mask with every score change against PyTorch (tests/golden/attention, made by tools/golden/attention.py): on
// the CPU in f32 and on the reference in f64, forward and all gradients. Here and not beside ops/attention.h, because
// goldens are safetensors files and those are read by a room above.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/attention.h"
#include "attune/ops/attention_masks.h"
#include "attune/ops/attention_scores.h"
#include "attune/ops/relative_buckets.h"

namespace attune {
namespace {

constexpr std::int64_t heads = 4, width = 8;
const std::vector<std::int64_t> queries = {66, 5, 3}, keys = {66, 5, 9}, first = {0, 0, 4};

Checkpoint golden(const std::string& name) {
  return Checkpoint::open(Path(ATTUNE_GOLDEN_DIR) / "attention" / (name + ".safetensors"));
}

template <class F>
std::vector<std::int64_t> listed(std::int64_t count, F f) {
  std::vector<std::int64_t> values;
  for (std::int64_t t = 0; t < count; ++t) values.push_back(f(t));
  return values;
}

/// In the order of the headers, in which docs/attention.md shows them.
template <class T>
using Named = std::vector<std::pair<std::string, T>>;

template <class T>
const T* find(const Named<T>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named<T>::value_type::first);
  return found == all.end() ? nullptr : &found->second;
}

Named<AttentionMask> masks() {
  const auto parents = listed(66, [](std::int64_t t) { return t == 0 ? -1 : t % 5 ? (t - 1) / 3 : t - 1; });
  return {
      {"bidirectional", bidirectional()},
      {"causal", causal()},
      {"window", window(9, 3)},
      {"dilated", dilated(4, 2, 3)},
      {"strided", strided(7)},
      {"first_keys", first_keys(4)},
      {"prefix", prefix({20, 2, 6})},
      {"documents", documents({listed(66, [](std::int64_t t) { return t / 17 + t / 31 * 10; })})},
      {"global_tokens", global_tokens(2)},
      {"longformer", longformer(5, 2)},
      {"bigbird", bigbird({.block = 8, .window_blocks = 3, .global_blocks = 1, .random_blocks = 0})},
      {"causal_bigbird",
       causal() & bigbird({.block = 8, .window_blocks = 3, .global_blocks = 1, .random_blocks = 0, .causal = true})},
      {"tree", tree(parents)},
      {"cross_modal",
       cross_modal({listed(66, [](std::int64_t t) { return t / 7 % 3; }), {0, 1, 2, 2, 0}, {2, 2, 2, 0, 0, 1, 2, 1, 0}},
                   {{true, false, true}, {true, true, false}, {false, false, false}})},
      {"where", where([](std::int64_t query, std::int64_t key, std::int64_t sequence) {
         return (query * 7 + key * 3 + sequence) % 5 < 2 && query % 11 != 3;
       })},
      {"causal_window_or_first", (causal() & window(16, 0)) | first_keys(4)},
  };
}

/// A score change, by the tensors that it learns.
struct Change {
  std::vector<std::string> learns = {};
  std::function<ScoreChanges(const std::vector<Tensor>&)> make;
  std::optional<double> scale = {};
  std::int64_t kv_heads = 2;
};

std::int64_t t5(std::int64_t distance) {
  return t5_bucket(distance, {.buckets = 16, .longest = 48, .both_ways = true});
}
std::int64_t shaw(std::int64_t distance) { return shaw_bucket(distance, 5); }
std::int64_t deberta(std::int64_t distance) {
  return deberta_bucket(distance, {.span = 8, .buckets = 16, .longest = 40});
}

Named<Change> changes() {
  using Learned = const std::vector<Tensor>&;
  const std::vector<double> slopes = {0.25, 0.0625, 0.015625, 0.00390625};  // of four heads
  return {
      {"none", {.make = [](Learned) { return ScoreChanges{}; }}},
      {"soft_cap", {.make = [](Learned) { return soft_cap(1.5); }}},
      {"alibi", {.make = [=](Learned) { return alibi(slopes); }}},
      {"distance_bias", {.learns = {"t5_table"}, .make = [](Learned t) { return distance_bias(t[0], t5); }}},
      {"relative_keys", {.learns = {"shaw_table"}, .make = [](Learned t) { return relative_keys(t[0], shaw); }}},
      {"deberta",
       {.learns = {"c2p_table", "p2c_table"},
        .make = [](Learned t) { return relative_keys(t[0], deberta) + relative_queries(t[1], deberta); },
        .scale = 1 / std::sqrt(3.0 * width),
        .kv_heads = heads}},
      {"pair_bias", {.learns = {"pair_table"}, .make = [](Learned t) { return pair_bias(t[0]); }}},
      {"window_bias", {.learns = {"swin_table"}, .make = [](Learned t) { return window_bias(t[0], 6, 11); }}},
      {"sinks", {.learns = {"sinks"}, .make = [](Learned t) { return sinks(t[0]); }}},
      {"all",
       {.learns = {"t5_table", "sinks"},
        .make = [=](Learned t) { return soft_cap(1.5) + alibi(slopes) + distance_bias(t[0], t5) + sinks(t[1]); },
        .scale = 0.6}},
  };
}

/// x as [rows, rest] times `vector`: what the goldens keep of a tensor.
Tensor contracted(const Tensor& x, std::int64_t rows, const Tensor& vector) {
  const std::vector<double> values = x.to(DType::F64).to_vector<double>(),
                            by = vector.to(DType::F64).to_vector<double>();
  const std::size_t rest = values.size() / static_cast<std::size_t>(rows);
  std::vector<double> sums(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < values.size(); ++i) sums[i / rest] += values[i] * by.at(i % rest);
  return Tensor::from<double>({rows}, sums);
}

/// y and the gradients of q, k, v and what the change learns, by name, contracted.
std::map<std::string, Tensor> evaluate(const AttentionMask& mask, const Change& change, DType type) {
  const Checkpoint inputs = golden("inputs");
  std::vector<std::string> names = {"q", "k", "v"};
  names.insert(names.end(), change.learns.begin(), change.learns.end());
  std::vector<Tensor> leaves;
  for (const std::string& name : names) {
    Tensor x = inputs.tensor(name);
    if (name == "k" || name == "v") x = x.slice(1, 0, change.kv_heads).clone();
    leaves.push_back(require_gradient(x.to(type)));
  }
  AttentionRule rule = mask + change.make({leaves.begin() + 3, leaves.end()});
  rule.scale = change.scale;
  const AttentionSequences sequences = {Offsets::from_lengths(queries), Offsets::from_lengths(keys), first};
  const Tensor y = attention(leaves[0], leaves[1], leaves[2], sequences, rule);
  backward(y, inputs.tensor("dy").to(type));
  std::map<std::string, Tensor> found = {
      {"y", contracted(y.detached(), y.dim(0) * y.dim(1), inputs.tensor("contract/y"))}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Tensor gradient = gradient_of(leaves[i]);
    check(gradient.defined(), "{} got no gradient", names[i]);
    found[names[i]] = contracted(gradient, gradient.dim(0), inputs.tensor("contract/" + names[i]));
  }
  return found;
}

class AttentionGolden : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(AttentionGolden, IsPyTorchs) {
  const auto& [mask, change] = GetParam();
  const Checkpoint expected = golden(change);
  for (auto [type, tolerance] : {std::pair{DType::F32, 1e-5}, std::pair{DType::F64, 1e-6}}) {
    double worst = 0;
    for (const auto& [name, tensor] : evaluate(*find(masks(), mask), *find(changes(), change), type)) {
      const Tensor wanted = expected.tensor(mask + "/" + name).to(DType::F64);
      const double difference = conformance::relative_difference(tensor, wanted.as_shape(tensor.shape()));
      EXPECT_LE(difference, tolerance) << name << (type == DType::F32 ? ", f32" : ", f64");
      worst = std::max(worst, difference);
    }
    RecordProperty(type == DType::F32 ? "f32" : "f64", fmt::format("{:.1e}", worst));
  }
}

std::vector<std::pair<std::string, std::string>> cells() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [mask, unused] : masks())
    for (const auto& [change, unused_too] : changes()) all.emplace_back(mask, change);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, AttentionGolden, testing::ValuesIn(cells()),
                         [](const auto& info) { return info.param.first + "_with_" + info.param.second; });

TEST(AttentionGoldens, EachIsTried) {
  // A golden that no cell reads would be a mask or a change that is thought to be tried and is not.
  for (const auto& entry : std::filesystem::directory_iterator(Path(ATTUNE_GOLDEN_DIR) / "attention")) {
    const std::string change = entry.path().stem().string();
    if (change == "inputs") continue;
    ASSERT_TRUE(find(changes(), change)) << change;
    for (const std::string& name : golden(change).names())
      EXPECT_TRUE(find(masks(), name.substr(0, name.find('/')))) << change << ": " << name;
  }
}

}  // namespace
}  // namespace attune
