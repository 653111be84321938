#include "attune/kernels/reference/sequence_convolution.h"

namespace attune::kernels {

namespace {

/// Calls body(place of y's value, place of x's value, place of the filter's) for every product, in order.
template <class Body>
void for_products(const SequenceConvolution<double>& c, const Body& body) {
  for (std::int64_t s = 0; s < c.sequences(); ++s)
    for (std::int64_t t = c.begin(s); t < c.end(s); ++t)
      for (std::int64_t h = 0; h < c.heads; ++h)
        for (std::int64_t j = c.first(s, t); j < c.last(s, t); ++j)
          for (std::int64_t i = 0; i < c.head_dim; ++i)
            body(c.row(t, h) + i, c.row(t + j - c.width / 2, h) + i, h * c.width + j);
}

}  // namespace

void sequence_convolution(const SequenceConvolution<double>& c, const double* x, double* y) {
  std::fill(y, y + c.row(c.starts.back(), 0), 0.0);
  for_products(c, [&](auto to, auto from, auto filter) { y[to] += c.filters[filter] * x[from]; });
}

void sequence_convolution_input_gradient(const SequenceConvolution<double>& c, const double* dy, double* dx) {
  for_products(c, [&](auto to, auto from, auto filter) { dx[from] += c.filters[filter] * dy[to]; });
}

void sequence_convolution_filter_gradient(const SequenceConvolution<double>& c, const double* x, const double* dy,
                                          double* dfilters) {
  for_products(c, [&](auto to, auto from, auto filter) { dfilters[filter] += dy[to] * x[from]; });
}

}  // namespace attune::kernels
