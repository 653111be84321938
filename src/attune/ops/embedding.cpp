#include "attune/ops/embedding.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/gather.h"
#include "attune/kernels/reference/gather.h"
#include "attune/ops/indices.h"

namespace attune {

Tensor embedding(const Tensor& table, const Tensor& ids, std::optional<std::int64_t> padding) {
  check(table.rank() == 2, "embedding: the table is a matrix, not {}", table.shape());
  Tensor rows = checked_indices("embedding", ids, table);
  Tensor y = Tensor::empty({rows.numel(), table.dim(1)}, table.dtype());
  dispatch("embedding", table.dtype(), [&]<class T>() {
    kernels::gather_rows(rows_of<T>(table), rows.values<std::int64_t>(), mutable_rows_of<T>(y));
  });
  return record("embedding", y, {table}, [rows, padding](const Tensor& dy, Gradients& gradients) {
    Tensor without = rows;
    if (padding) {
      without = rows.clone();
      for (std::int64_t& id : without.mutable_values<std::int64_t>())
        if (id == *padding) id = -1;  // left out by the kernel
    }
    Tensor dtable = gradients.accumulator(0);
    dispatch("embedding", dy.dtype(), [&]<class T>() {
      kernels::scatter_add_rows(rows_of<T>(dy), without.values<std::int64_t>(), mutable_rows_of<T>(dtable));
    });
  });
}

}  // namespace attune
