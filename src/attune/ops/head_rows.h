#pragma once

#include "attune/kernels/attention.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// Heads [begin, end) of a tensor or a call.
struct HeadRange {
  std::int64_t begin, end;

  std::int64_t count() const { return end - begin; }
};

/// x [tokens, heads, width], any strides between tokens and heads, as kernels see it: all of its heads, or some.
template <class T>
kernels::HeadRows<const T> heads_of(const Tensor& x, const HeadRange& heads) {
  return {x.data<T>() + heads.begin * x.stride(1), heads.count(), x.dim(2), x.stride(0), x.stride(1)};
}
template <class T>
kernels::HeadRows<T> mutable_heads_of(const Tensor& x, const HeadRange& heads) {
  return {x.mutable_data<T>() + heads.begin * x.stride(1), heads.count(), x.dim(2), x.stride(0), x.stride(1)};
}
template <class T>
kernels::HeadRows<const T> heads_of(const Tensor& x) {
  return heads_of<T>(x, {0, x.dim(1)});
}
template <class T>
kernels::HeadRows<T> mutable_heads_of(const Tensor& x) {
  return mutable_heads_of<T>(x, {0, x.dim(1)});
}

}  // namespace attune
