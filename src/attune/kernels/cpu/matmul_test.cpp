#include "attune/kernels/cpu/matmul.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"
#include "attune/kernels/reference/matmul.h"

namespace attune::kernels {
namespace {

struct Sizes {
  std::int64_t m, k, n;
};
/// Around the tile's 12 rows, the panel's 32 columns, the pass's 384 or 768 steps and the block's 96 rows.
const Sizes all_sizes[] = {{1, 1, 1},      {1, 0, 5},     {0, 3, 4},      {3, 5, 0},     {2, 3, 33},
                           {4, 385, 64},   {5, 384, 31},  {6, 17, 65},    {7, 1, 32},    {12, 400, 96},
                           {13, 100, 100}, {24, 769, 40}, {99, 1537, 33}, {25, 33, 129}, {145, 390, 70},
                           {300, 20, 9},   {390, 40, 40}, {17, 1000, 1},  {1, 777, 200}, {3, 640, 96}};

std::vector<float> random_values(std::int64_t count, std::uint64_t seed) {
  RandomStream random(RandomKey{.seed = seed});
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = static_cast<float>(random.normal());
  return values;
}

/// How an operand lies in memory.
enum class Lie { Rows, Columns, Apart };

struct Operand {
  std::vector<float> values;
  Matrix<float> matrix;

  Operand(const Operand&) = delete;  // `matrix` looks into `values`
  Operand(Operand&&) = default;
  Operand(std::int64_t rows, std::int64_t columns, Lie lie, std::uint64_t seed) {
    std::int64_t gap = seed % 3 == 0 ? 3 : 0;
    std::int64_t row = lie == Lie::Rows ? columns + gap : lie == Lie::Columns ? 1 : 2 * columns + gap;
    std::int64_t column = lie == Lie::Rows ? 1 : lie == Lie::Columns ? rows + gap : 2;
    values.assign(static_cast<std::size_t>(rows * row + columns * column + 8), std::nanf(""));
    std::vector<float> from = random_values(rows * columns, seed);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        values[static_cast<std::size_t>(i * row + j * column)] = from[static_cast<std::size_t>(i * columns + j)];
    matrix = {values.data(), rows, columns, row, column};
  }
};

enum class Start { Zero, Bias, Accumulate };

/// C with a margin that must stay as it is.
struct Product {
  Sizes size;
  std::int64_t stride;
  std::vector<float> values;
  std::vector<float> bias;

  explicit Product(Sizes s)
      : size(s), stride(s.n + 5), values(random_values(s.m * stride, 9)), bias(random_values(s.n, 10)) {}
  Rows<float> rows() { return {values.data(), size.m, size.n, stride}; }
  MatmulStart<float> start(Start how) const {
    return {how == Start::Bias ? bias.data() : nullptr, how == Start::Accumulate};
  }
};

std::vector<float> product(const Operand& a, const Operand& b, Start how, bool packed_before) {
  Product c({a.matrix.rows, a.matrix.columns, b.matrix.columns});
  if (packed_before)
    matmul(a.matrix, PackedMatrix(b.matrix), c.rows(), c.start(how));
  else
    matmul(a.matrix, b.matrix, c.rows(), c.start(how));
  return c.values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void expect_near_reference(Sizes s, Start how, const std::vector<float>& c) {
  Operand a(s.m, s.k, Lie::Rows, 1), b(s.k, s.n, Lie::Rows, 2);
  std::vector<double> a64, b64, bias64;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.k; ++j) a64.push_back(a.matrix(i, j));
  for (std::int64_t i = 0; i < s.k; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) b64.push_back(b.matrix(i, j));
  Product before(s);
  for (float v : before.bias) bias64.push_back(v);
  std::vector<double> c64(before.values.begin(), before.values.end());
  MatmulStart<double> start{how == Start::Bias ? bias64.data() : nullptr, how == Start::Accumulate};
  matmul(Matrix<double>(a64.data(), s.m, s.k, s.k, 1), Matrix<double>(b64.data(), s.k, s.n, s.n, 1),
         Rows<double>{c64.data(), s.m, s.n, before.stride}, start);
  ASSERT_EQ(c.size(), c64.size());
  // Rounding grows as sqrt(k) for values of about 1.
  for (std::size_t i = 0; i < c.size(); ++i)
    ASSERT_NEAR(c[i], c64[i], 1e-6 * (4 + static_cast<double>(s.k))) << s.m << "x" << s.k << "x" << s.n << " at " << i;
}

/// Runs `body` on each target that was compiled and that this CPU has.
template <class Body>
void for_each_target(Body&& body) {
  for (std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON, HWY_EMU128, HWY_SCALAR}) {
    if (!(hwy::SupportedTargets() & target) && target != HWY_SCALAR && target != HWY_EMU128) continue;
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body();
    hwy::SetSupportedTargetsForTest(0);
  }
}

TEST(Matmul, AgreesWithTheReferenceOnEveryTarget) {
  for_each_target([] {
    for (Sizes s : all_sizes)
      for (Start how : {Start::Zero, Start::Bias, Start::Accumulate})
        expect_near_reference(s, how,
                              product(Operand(s.m, s.k, Lie::Rows, 1), Operand(s.k, s.n, Lie::Rows, 2), how, true));
  });
}

TEST(Matmul, HowOperandsLieDoesNotChangeABit) {
  for_each_target([] {
    for (Sizes s : all_sizes) {
      std::vector<Operand> a, b;
      for (Lie lie : {Lie::Rows, Lie::Columns, Lie::Apart})
        a.emplace_back(s.m, s.k, lie, 1), b.emplace_back(s.k, s.n, lie, 2);
      auto once = product(a[0], b[0], Start::Bias, true);
      for (const Operand& of_a : a)
        for (const Operand& of_b : b)
          for (bool packed_before : {true, false})
            ASSERT_TRUE(same_bits(once, product(of_a, of_b, Start::Bias, packed_before)))
                << s.m << "x" << s.k << "x" << s.n;
    }
  });
}

TEST(Matmul, ARowAloneHasTheBitsThatItHasInABatch) {
  for_each_target([] {
    const std::int64_t k = 500, n = 75;
    Operand a(150, k, Lie::Rows, 3), b(k, n, Lie::Columns, 2);
    PackedMatrix packed(b.matrix);
    std::vector<float> all(static_cast<std::size_t>(150 * n)), some = all;
    matmul(a.matrix, packed, Rows<float>{all.data(), 150, n, n});
    for (std::int64_t first : {0, 1, 77, 140})
      for (std::int64_t count : {1, 2, 3, 4, 5, 6, 7, 10}) {
        matmul(a.matrix.rows_from(first, first + count), packed, Rows<float>{some.data(), count, n, n});
        ASSERT_EQ(std::memcmp(some.data(), all.data() + first * n, static_cast<std::size_t>(count * n) * sizeof(float)),
                  0)
            << count << " rows from " << first;
      }
  });
}

TEST(Matmul, ThreadsDoNotChangeABit) {
  int before = num_threads();
  for (Sizes s : {Sizes{1, 500, 600}, Sizes{4, 900, 333}, Sizes{150, 800, 300}, Sizes{600, 70, 1100}})
    for (bool packed_before : {true, false}) {
      Operand a(s.m, s.k, Lie::Columns, 1), b(s.k, s.n, Lie::Rows, 2);
      set_num_threads(1);
      auto one = product(a, b, Start::Accumulate, packed_before);
      for (int threads : {2, 3}) {
        set_num_threads(threads);
        EXPECT_TRUE(same_bits(one, product(a, b, Start::Accumulate, packed_before))) << threads << " threads";
      }
    }
  set_num_threads(before);
}

TEST(Matmul, RefusesSizesThatDoNotFit) {
  std::vector<float> v(100);
  Matrix<float> a(v.data(), 2, 3, 3, 1), b(v.data(), 4, 5, 5, 1);
  EXPECT_THROW(matmul(a, PackedMatrix(b), Rows<float>{v.data(), 2, 5, 5}), Error);
  EXPECT_THROW(matmul(a, b, Rows<float>{v.data(), 2, 5, 5}), Error);
}

}  // namespace
}  // namespace attune::kernels
