#include "attune/ops/retrieved_attention.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/retrieved_attention.h"
#include "attune/kernels/reference/retrieved_attention.h"
#include "attune/ops/dispatch.h"
#include "attune/ops/head_rows.h"

namespace attune {

namespace {

/// The addresses of what was found, and the sources that keep them alive.
template <class T>
struct Found {
  std::vector<RetrievedSource> sources;
  std::vector<const T*> keys, values;  // [tokens, heads, count]
  std::int64_t count = 0, value_width = 0;
  double scale = 1;

  kernels::RetrievedProblem<T> problem(const Tensor& q) const {
    return {heads_of<T>(q), q.dim(0), count, value_width, keys.data(), values.data(), scale};
  }
};

template <class T>
Found<T> found_in(const std::vector<RetrievedSource>& sources, const std::vector<Neighbour>& neighbours,
                  const Tensor& q) {
  Found<T> found{.sources = sources, .keys = {}, .values = {}};
  const std::int64_t rows = q.dim(0) * q.dim(1);
  found.count = rows == 0 ? 0 : static_cast<std::int64_t>(neighbours.size()) / rows;
  found.value_width = sources[0].v.dim(2);
  found.keys.assign(neighbours.size(), nullptr);
  found.values.assign(neighbours.size(), nullptr);
  std::vector<kernels::HeadRows<const T>> k, v;
  for (const RetrievedSource& source : sources) k.push_back(heads_of<T>(source.k)), v.push_back(heads_of<T>(source.v));
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const Neighbour& n = neighbours[i];
    if (n.source < 0) continue;
    const auto s = static_cast<std::size_t>(n.source);
    check(s < sources.size() && 0 <= n.row && n.row < sources[s].k.dim(0),
          "retrieved_attention: neighbour {} is row {} of source {}, which is not there", i, n.row, n.source);
    const std::int64_t head = static_cast<std::int64_t>(i) / found.count % q.dim(1) / (q.dim(1) / k[s].heads);
    found.keys[i] = k[s].at(n.row, head);
    found.values[i] = v[s].at(n.row, head);
  }
  return found;
}

void check_inputs(const Tensor& q, const std::vector<RetrievedSource>& sources, std::size_t neighbours) {
  check(q.rank() == 3, "retrieved_attention: q {} is not [tokens, heads, head_dim]", q.shape());
  check(!sources.empty(), "retrieved_attention: there is no source of keys");
  const auto rows = static_cast<std::size_t>(q.dim(0) * q.dim(1));
  check(rows == 0 ? neighbours == 0 : neighbours % rows == 0,
        "retrieved_attention: {} neighbours do not divide into q's {} tokens and heads", neighbours, q.shape());
  for (const RetrievedSource& s : sources) {
    check(s.k.rank() == 3 && s.v.rank() == 3 && s.k.dim(0) == s.v.dim(0) && s.k.dim(1) == s.v.dim(1),
          "retrieved_attention: k {} and v {} are not [rows, heads, width] of the same rows and heads", s.k.shape(),
          s.v.shape());
    check(s.k.dim(2) == q.dim(2) && s.k.dim(1) > 0 && q.dim(1) % s.k.dim(1) == 0 && s.v.dim(2) == sources[0].v.dim(2) &&
              s.k.dtype() == q.dtype() && s.v.dtype() == q.dtype(),
          "retrieved_attention: keys {} {} and values {} do not fit queries {} {}", name_of(s.k.dtype()), s.k.shape(),
          s.v.shape(), name_of(q.dtype()), q.shape());
    check(s.k.stride(2) == 1 && s.v.stride(2) == 1, "retrieved_attention: the values of one head are not adjacent");
    forbid_gradient("retrieved_attention (to keys and values)", {s.k, s.v});
  }
}

}  // namespace

Tensor retrieved_attention(const Tensor& q, const std::vector<RetrievedSource>& sources,
                           const std::vector<Neighbour>& neighbours, double scale) {
  check_inputs(q, sources, neighbours.size());
  return dispatch("retrieved_attention", q.dtype(), [&]<class T>() {
    auto found = std::make_shared<Found<T>>(found_in<T>(sources, neighbours, q));
    found->scale = scale;
    Tensor y = Tensor::empty({q.dim(0), q.dim(1), found->value_width}, q.dtype());
    Tensor weights = Tensor::empty({q.dim(0), q.dim(1), found->count}, q.dtype());
    kernels::retrieved_attention(found->problem(q), weights.mutable_data<T>(), mutable_heads_of<T>(y));
    return record("retrieved_attention", y, {q},
                  [found, weights, q = q.detached()](const Tensor& dy, Gradients& gradients) {
                    Tensor dq = Tensor::like(q);
                    const Tensor d = dy.contiguous();
                    kernels::retrieved_attention_backward(found->problem(q), weights.data<T>(), heads_of<T>(d),
                                                          mutable_heads_of<T>(dq));
                    gradients.add(0, dq);
                  });
  });
}

}  // namespace attune
