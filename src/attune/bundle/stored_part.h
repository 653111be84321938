#pragma once

#include "attune/nn/parameters.h"

namespace attune {

/// A parameter of that shape in the file's tensor `stored`, of which it may be a part: a view.
inline Tensor stored_part(const Tensor& stored, const std::optional<FilePart>& part, const Shape& shape) {
  if (!part) return stored;
  const std::int64_t rows = shape[0];
  return stored.rows(part->index, part->index + 1)
      .as_shape({part->whole[1], part->whole[2]})
      .rows(part->part * rows, (part->part + 1) * rows);
}

}  // namespace attune
