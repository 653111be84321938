#include "attune/ops/retrieved_attention.h"

#include <gtest/gtest.h>

#include <limits>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/conformance/conformance.h"
#include "attune/kernels/cpu/nearest.h"
#include "attune/kernels/reference/nearest.h"
#include "attune/ops/attention.h"

namespace attune {
namespace {

using conformance::random_tensor;

/// Keys drawn for each query head, some of them none.
std::vector<Neighbour> drawn(std::int64_t rows, std::int64_t count, std::vector<std::int64_t> sizes) {
  RandomStream random(RandomKey{3, 1, 4});
  std::vector<Neighbour> all(static_cast<std::size_t>(rows * count));
  for (Neighbour& n : all) {
    n.source = static_cast<std::int32_t>(random.below(static_cast<std::int64_t>(sizes.size()) + 1)) - 1;
    if (n.source >= 0) n.row = random.below(sizes[static_cast<std::size_t>(n.source)]);
  }
  return all;
}

CONFORMANCE(retrieved_attention) {
  struct Sizes {
    std::int64_t tokens, heads, kv_heads, count, width, value_width;
  };
  for (Sizes s : {Sizes{0, 2, 1, 3, 8, 8},
                  {1, 1, 1, 1, 1, 1},
                  {3, 2, 2, 5, 8, 8},
                  {5, 4, 2, 33, 19, 7},
                  {4, 6, 3, 2, 64, 64},
                  {2, 2, 1, 0, 4, 4}}) {
    const Tensor k0 = random_tensor({9, s.kv_heads, s.width}, 2), v0 = random_tensor({9, s.kv_heads, s.value_width}, 3);
    const Tensor k1 = random_tensor({4, s.kv_heads, s.width}, 4), v1 = random_tensor({4, s.kv_heads, s.value_width}, 5);
    const auto neighbours = drawn(s.tokens * s.heads, s.count, {9, 4});
    conformance::expect_agrees({.run =
                                    [=](auto in) {
                                      const DType type = in[0].dtype();
                                      return retrieved_attention(
                                          in[0], {{k0.to(type), v0.to(type)}, {k1.to(type), v1.to(type)}}, neighbours,
                                          0.3);
                                    },
                                .inputs = {random_tensor({s.tokens, s.heads, s.width})}});
  }
}

TEST(RetrievedAttention, OfAllKeysIsAttention) {
  const Tensor q = require_gradient(random_tensor({7, 4, 16})), again = require_gradient(q.detached());
  const Tensor k = random_tensor({11, 2, 16}, 2), v = random_tensor({11, 2, 24}, 3), dy = random_tensor({7, 4, 24}, 4);
  std::vector<Neighbour> all;
  for (int row = 0; row < 28; ++row)
    for (int j = 10; j >= 0; --j) all.push_back({0, j});
  const Tensor y = retrieved_attention(q, {{k, v}}, all, 0.25);
  const Tensor full = attention(again, k, v, {Offsets::single(7), Offsets::single(11)}, {.scale = 0.25});
  EXPECT_LT(conformance::relative_difference(y.detached(), full.detached()), 1e-6);
  backward(y, dy), backward(full, dy);
  EXPECT_LT(conformance::relative_difference(gradient_of(q), gradient_of(again)), 1e-5);
}

TEST(RetrievedAttention, SourcesThatWantAGradientOrAreTooShortAreRefused) {
  const Tensor q = random_tensor({1, 1, 4}), k = random_tensor({2, 1, 4}), v = random_tensor({2, 1, 4});
  EXPECT_THROW(retrieved_attention(q, {{require_gradient(k), v}}, {{0, 1}}, 1), Error);
  EXPECT_THROW(retrieved_attention(q, {{k, v}}, {{0, 2}}, 1), Error);
  EXPECT_THROW(retrieved_attention(q, {{k, v}}, {{1, 0}}, 1), Error);
  EXPECT_THROW(retrieved_attention(random_tensor({1, 1, 5}), {{k, v}}, {{0, 1}}, 1), Error);
}

TEST(Nearest, FastSearchFindsWhatTheReferenceFinds) {
  for (std::int64_t keys : {0, 1, 7, 300})
    for (std::int64_t count : {1, 5, 40}) {
      const Tensor q = random_tensor({37, 24}), k = random_tensor({keys, 24}, 2);
      const Tensor q64 = q.to(DType::F64), k64 = k.to(DType::F64);
      std::vector<std::int64_t> visible, fast(static_cast<std::size_t>(37 * count)), reference = fast;
      for (std::int64_t i = 0; i < 37; ++i) visible.push_back(i * keys / 30 - 2);
      kernels::nearest(kernels::Matrix<float>(q.data<float>(), 37, 24, 24, 1),
                       kernels::Matrix<float>(k.data<float>(), keys, 24, 24, 1), visible, count, fast.data());
      kernels::nearest(kernels::Matrix<double>(q64.data<double>(), 37, 24, 24, 1),
                       kernels::Matrix<double>(k64.data<double>(), keys, 24, 24, 1), visible, count, reference.data());
      EXPECT_EQ(fast, reference) << keys << " keys, " << count;
    }
}

TEST(Nearest, EqualKeysAreFoundInTheirOrderAndNaNsLast) {
  std::vector<float> keys = {1, 2, std::numeric_limits<float>::quiet_NaN(), 2, 0}, query = {1};
  std::vector<std::int64_t> best(6);
  kernels::nearest(kernels::Matrix<float>(query.data(), 1, 1, 1, 1), kernels::Matrix<float>(keys.data(), 5, 1, 1, 1),
                   std::vector<std::int64_t>{5}, 6, best.data());
  EXPECT_EQ(best, (std::vector<std::int64_t>{1, 3, 0, 4, 2, -1}));
}

}  // namespace
}  // namespace attune
