#include "attune/ops/iterative_inverse.h"

#include <algorithm>
#include <vector>

#include "attune/autograd/tape.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/batched_matmul.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

/// The column of each matrix with the largest sum, the first of equal ones, and that sum.
template <class T>
struct LargestColumn {
  std::int64_t column = 0;
  T sum = 0;

  LargestColumn(const T* a, std::int64_t m) {
    for (std::int64_t j = 0; j < m; ++j) {
      T total = 0;
      for (std::int64_t i = 0; i < m; ++i) total += a[i * m + j];
      if (j == 0 || total > sum) *this = {j, total};
    }
  }

 private:
  LargestColumn(std::int64_t column, T sum) : column(column), sum(sum) {}
};

/// Which matrix's largest column sum divides matrix b.
template <class T>
struct Divisors {
  std::vector<LargestColumn<T>> largest;  // [batch]
  std::vector<std::int64_t> of;           // [batch]

  Divisors(const Tensor& a, InverseGuess guess) {
    const std::int64_t batch = a.dim(0), m = a.dim(1);
    std::int64_t best = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
      largest.emplace_back(a.data<T>() + b * m * m, m);
      of.push_back(b);
      if (largest.back().sum > largest[static_cast<std::size_t>(best)].sum) best = b;
    }
    if (guess == InverseGuess::together) std::fill(of.begin(), of.end(), best);
  }
  T sum(std::int64_t b) const { return largest[static_cast<std::size_t>(of[static_cast<std::size_t>(b)])].sum; }
};

/// Z_0 = A^T / c with c the largest sum of a column: dA = dZ^T / c, and for that column - <dZ, A^T> / c^2 besides.
Tensor first_guess(const Tensor& x, InverseGuess guess) {
  const Tensor a = x.contiguous();
  const std::int64_t batch = a.dim(0), m = a.dim(1);
  Tensor z = Tensor::like(a);
  dispatch("iterative_inverse", a.dtype(), [&]<class T>() {
    const Divisors<T> divisors(a, guess);
    for (std::int64_t b = 0; b < batch; ++b) {
      const T* from = a.data<T>() + b * m * m;
      T* to = z.mutable_data<T>() + b * m * m;
      const T c = divisors.sum(b);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < m; ++j) to[j * m + i] = from[i * m + j] / c;
    }
  });
  return record("iterative_inverse", z, {x}, [a, batch, m, guess](const Tensor& dz, Gradients& gradients) {
    Tensor da = Tensor::like(a);
    const Tensor given = dz.contiguous();
    dispatch("iterative_inverse", a.dtype(), [&]<class T>() {
      const Divisors<T> divisors(a, guess);
      std::vector<double> products(static_cast<std::size_t>(batch));  // <dZ, A^T>, at the matrix that gave c
      for (std::int64_t b = 0; b < batch; ++b) {
        const T *matrix = a.data<T>() + b * m * m, *g = given.data<T>() + b * m * m;
        T* to = da.mutable_data<T>() + b * m * m;
        double& product = products[static_cast<std::size_t>(divisors.of[static_cast<std::size_t>(b)])];
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < m; ++j) {
            to[i * m + j] = g[j * m + i] / divisors.sum(b);
            product += static_cast<double>(g[j * m + i]) * static_cast<double>(matrix[i * m + j]);
          }
      }
      for (std::int64_t b = 0; b < batch; ++b) {
        const LargestColumn<T>& largest = divisors.largest[static_cast<std::size_t>(b)];
        const auto change = static_cast<T>(products[static_cast<std::size_t>(b)]) / (largest.sum * largest.sum);
        T* to = da.mutable_data<T>() + b * m * m;
        for (std::int64_t i = 0; i < m; ++i) to[i * m + largest.column] -= change;
      }
    });
    gradients.add(0, da);
  });
}

/// factor I for each matrix of x.
Tensor identity_like(const Tensor& x, double factor) {
  const std::int64_t m = x.dim(1);
  std::vector<double> values(static_cast<std::size_t>(x.numel()));
  for (std::int64_t b = 0; b < x.dim(0); ++b)
    for (std::int64_t i = 0; i < m; ++i) values[static_cast<std::size_t>((b * m + i) * m + i)] = factor;
  return Tensor::from<double>(x.shape(), values).to(x.dtype());
}

}  // namespace

Tensor iterative_inverse(const Tensor& a, int steps, InverseGuess guess) {
  check(a.rank() == 3 && a.dim(1) == a.dim(2), "iterative_inverse: {} holds no square matrices [batch, m, m]",
        a.shape());
  const Tensor seven = identity_like(a, 7), fifteen = identity_like(a, 15), thirteen = identity_like(a, 13);
  auto less = [](const Tensor& identity, const Tensor& x) { return add(identity, scale(x, -1)); };
  Tensor z = first_guess(a, guess);
  for (int i = 0; i < steps; ++i) {
    const Tensor az = batched_matmul(a, z);
    const Tensor inner = less(fifteen, batched_matmul(az, less(seven, az)));
    z = batched_matmul(scale(z, 0.25), less(thirteen, batched_matmul(az, inner)));
  }
  return z;
}

}  // namespace attune
