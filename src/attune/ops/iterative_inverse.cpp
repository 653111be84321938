#include "attune/ops/iterative_inverse.h"

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

/// Z_0 = A^T / c with c the largest sum of a column: dA = dZ^T / c, and for that column - <dZ, A^T> / c^2 besides.
Tensor first_guess(const Tensor& x) {
  const Tensor a = x.contiguous();
  const std::int64_t batch = a.dim(0), m = a.dim(1);
  Tensor z = Tensor::like(a);
  dispatch("iterative_inverse", a.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < batch; ++b) {
      const T* from = a.data<T>() + b * m * m;
      T* to = z.mutable_data<T>() + b * m * m;
      const T c = LargestColumn<T>(from, m).sum;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < m; ++j) to[j * m + i] = from[i * m + j] / c;
    }
  });
  return record("iterative_inverse", z, {x}, [a, batch, m](const Tensor& dz, Gradients& gradients) {
    Tensor da = Tensor::like(a);
    const Tensor given = dz.contiguous();
    dispatch("iterative_inverse", a.dtype(), [&]<class T>() {
      for (std::int64_t b = 0; b < batch; ++b) {
        const T *matrix = a.data<T>() + b * m * m, *g = given.data<T>() + b * m * m;
        T* to = da.mutable_data<T>() + b * m * m;
        const LargestColumn<T> largest(matrix, m);
        double product = 0;
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < m; ++j) {
            to[i * m + j] = g[j * m + i] / largest.sum;
            product += static_cast<double>(g[j * m + i]) * static_cast<double>(matrix[i * m + j]);
          }
        for (std::int64_t i = 0; i < m; ++i)
          to[i * m + largest.column] -= static_cast<T>(product) / (largest.sum * largest.sum);
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

Tensor iterative_inverse(const Tensor& a, int steps) {
  check(a.rank() == 3 && a.dim(1) == a.dim(2), "iterative_inverse: {} holds no square matrices [batch, m, m]",
        a.shape());
  const Tensor seven = identity_like(a, 7), fifteen = identity_like(a, 15), thirteen = identity_like(a, 13);
  auto less = [](const Tensor& identity, const Tensor& x) { return add(identity, scale(x, -1)); };
  Tensor z = first_guess(a);
  for (int i = 0; i < steps; ++i) {
    const Tensor az = batched_matmul(a, z);
    const Tensor inner = less(fifteen, batched_matmul(az, less(seven, az)));
    z = batched_matmul(scale(z, 0.25), less(thirteen, batched_matmul(az, inner)));
  }
  return z;
}

}  // namespace attune
