#include "attune/kernels/cpu/sequence_convolution.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/sequence_convolution.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/elementwise-inl.h"
#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

using Convolution = SequenceConvolution<float>;

/// Calls body(s, t) for every token t, in parallel; s is its sequence.
template <class Body>
HWY_INLINE void for_tokens(const Convolution& c, const Body& body) {
  const std::int64_t work = std::max<std::int64_t>(1, c.heads * c.head_dim * c.width);
  parallel(c.starts.back(), std::max<std::int64_t>(1, elementwise_grain / work),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             std::int64_t s = std::upper_bound(c.starts.begin(), c.starts.end(), begin) - c.starts.begin() - 1;
             for (std::int64_t t = begin; t < end; ++t) {
               while (t >= c.end(s)) ++s;
               body(s, t);
             }
           });
}

/// to += factor * from for one head of one token.
HWY_INLINE void add_scaled(const Convolution& c, float factor, const float* from, float* to) {
  const auto f = hn::Set(F32(), factor);
  map(
      c.head_dim, to, [&](auto sum, auto x) HWY_ATTR { return hn::MulAdd(f, x, sum); }, to, from);
}

void convolve(const Convolution& c, const float* x, float* y) {
  for_tokens(c, [&](std::int64_t s, std::int64_t t) HWY_ATTR {
    std::memset(y + c.row(t, 0), 0, static_cast<std::size_t>(c.heads * c.head_dim) * sizeof(float));
    for (std::int64_t h = 0; h < c.heads; ++h)
      for (std::int64_t j = c.first(s, t); j < c.last(s, t); ++j)
        add_scaled(c, c.filters[h * c.width + j], x + c.row(t + j - c.width / 2, h), y + c.row(t, h));
  });
}

/// x[t] went into y[t - j + width / 2] by filter place j: the places turned round.
void input_gradient(const Convolution& c, const float* dy, float* dx) {
  for_tokens(c, [&](std::int64_t s, std::int64_t t) HWY_ATTR {
    for (std::int64_t h = 0; h < c.heads; ++h)
      for (std::int64_t turned = c.first(s, t); turned < c.last(s, t); ++turned)
        add_scaled(c, c.filters[h * c.width + c.width - 1 - turned], dy + c.row(t + turned - c.width / 2, h),
                   dx + c.row(t, h));
  });
}

void filter_gradient(const Convolution& c, const float* x, const float* dy, float* dfilters) {
  parallel(c.heads * c.width, 1, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t place = begin; place < end; ++place) {
      const std::int64_t h = place / c.width, shift = place % c.width - c.width / 2;
      double sum = 0;
      for (std::int64_t s = 0; s < c.sequences(); ++s)
        for (std::int64_t t = std::max(c.begin(s), c.begin(s) - shift); t < std::min(c.end(s), c.end(s) - shift); ++t)
          sum += static_cast<double>(sum_of(
              c.head_dim, [](auto p, auto q) HWY_ATTR { return hn::Mul(p, q); }, dy + c.row(t, h),
              x + c.row(t + shift, h)));
      dfilters[place] += static_cast<float>(sum);
    }
  });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(convolve);
HWY_EXPORT(input_gradient);
HWY_EXPORT(filter_gradient);

void sequence_convolution(const SequenceConvolution<float>& c, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(convolve)(c, x, y);
}
void sequence_convolution_input_gradient(const SequenceConvolution<float>& c, const float* dy, float* dx) {
  HWY_DYNAMIC_DISPATCH(input_gradient)(c, dy, dx);
}
void sequence_convolution_filter_gradient(const SequenceConvolution<float>& c, const float* x, const float* dy,
                                          float* dfilters) {
  HWY_DYNAMIC_DISPATCH(filter_gradient)(c, x, dy, dfilters);
}

}  // namespace attune::kernels
#endif
