#pragma once

#include "attune/kernels/attention.h"

namespace attune::kernels {

/// Tokens [first, first + count) of a page get the first `count` rows of k and v for one head, in the page's format.
struct PageRows {
  HeadRows<const float> k, v;  // [count, heads, width], beginning with the first of the rows
  std::byte* page = nullptr;
  std::int64_t first = 0, count = 0;
};
void write_page_rows(const PageLayout& layout, const PageRows& rows, std::int64_t head);

}  // namespace attune::kernels
