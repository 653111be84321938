#include "attune/checkpoint/gguf_change.h"

#include "attune/base/error.h"

namespace attune {

namespace {

/// Rotary positions turn row i of a head with row i + half; in the file such pairs stand row by row.
std::vector<std::int64_t> paired_rows(std::int64_t rows, std::int64_t heads) {
  check(heads > 0 && rows % heads == 0 && rows / heads % 2 == 0, "{} rows are not {} heads of an even number of rows",
        rows, heads);
  const std::int64_t width = rows / heads, half = width / 2;
  std::vector<std::int64_t> order;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t in_head = row % width;
    order.push_back(row - in_head + 2 * (in_head % half) + in_head / half);
  }
  return order;
}

/// Published: [key heads, queries of the group + 2, width]; in the file: all queries, all keys, all values.
std::vector<std::int64_t> grouped(std::int64_t rows, GgufHeads heads) {
  check(heads.key > 0 && heads.query > 0 && heads.query % heads.key == 0 && rows % (heads.query + 2 * heads.key) == 0,
        "{} rows are not the queries, keys and values of {} heads and {} key heads", rows, heads.query, heads.key);
  const std::int64_t width = rows / (heads.query + 2 * heads.key), group = heads.query / heads.key;
  std::vector<std::int64_t> order;
  for (std::int64_t key = 0; key < heads.key; ++key)
    for (std::int64_t slot = 0; slot < group + 2; ++slot) {
      const std::int64_t head = slot < group ? key * group + slot : heads.query + (slot == group ? 0 : heads.key) + key;
      for (std::int64_t row = 0; row < width; ++row) order.push_back(head * width + row);
    }
  return order;
}

bool moves_rows(GgufChange change) {
  return change == GgufChange::query_rows || change == GgufChange::key_rows || change == GgufChange::grouped_rows;
}

/// Rows `order` of `from`, one after the other.
Tensor gathered(const Tensor& from, const std::vector<std::int64_t>& order) {
  Tensor to = Tensor::like(from);
  for (std::size_t row = 0; row < order.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    copy_into(from.rows(order[row], order[row] + 1), to.rows(at, at + 1));
  }
  return to;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return back;
}

Tensor shifted(const Tensor& values, float by) {
  Tensor sum = values.to(DType::F32).clone();
  for (float& value : sum.mutable_values<float>()) value += by;
  return sum;
}

}  // namespace

bool is_copy(GgufChange change) {
  return moves_rows(change) || change == GgufChange::one_more || change == GgufChange::transposed;
}

Shape published_shape(const Shape& file, GgufChange change) {
  if (change == GgufChange::transposed && file.rank() == 2) return {file[1], file[0]};
  if (change == GgufChange::one_row && file.rank() == 1) return {1, file[0]};
  return file;
}

std::vector<std::int64_t> file_rows(GgufChange change, std::int64_t rows, GgufHeads heads) {
  if (change == GgufChange::grouped_rows) return grouped(rows, heads);
  return paired_rows(rows, change == GgufChange::query_rows ? heads.query : heads.key);
}

Tensor published_values(const Tensor& file, GgufChange change, GgufHeads heads) {
  if (change == GgufChange::one_more) return shifted(file, -1);
  if (change == GgufChange::one_row) return file.as_shape(published_shape(file.shape(), change));
  if (change == GgufChange::transposed && file.rank() == 2) return file.transposed(0, 1).contiguous();
  if (!moves_rows(change)) return file;
  return gathered(file, file_rows(change, file.dim(0), heads));
}

QuantisedTensor published_blocks(const QuantisedTensor& file, GgufChange change, GgufHeads heads) {
  check(change != GgufChange::one_more, "a norm in a block-quantised type is not read");
  if (change == GgufChange::one_row) return file.as_shape(published_shape(file.shape(), change));
  if (!moves_rows(change)) return file;
  return file.in_order(file_rows(change, file.dim(0), heads));
}

Tensor file_values(const Tensor& published, GgufChange change, GgufHeads heads) {
  if (change == GgufChange::one_more) return shifted(published, 1);
  if (change == GgufChange::one_row) return published.as_shape({published.numel()});
  if (change == GgufChange::transposed && published.rank() == 2) return published.transposed(0, 1).contiguous();
  if (!moves_rows(change)) return published;
  return gathered(published, inverse(file_rows(change, published.dim(0), heads)));
}

}  // namespace attune
