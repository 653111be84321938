// Memorizing Transformers (Wu et al. 2022): one layer attends to a window of tokens and, apart, to the `neighbours`
// keys with the largest scores among all that lie further back; a gate for each head joins both (section 3.1):
//   y = g y_memory + (1 - g) y_local, g = sigmoid(b_head).
// What was looked up is a constant: no gradient flows into the memory (section 3.2). A query that finds nothing keeps
// its local result. The other layers have the window alone.
#include <algorithm>
#include <cmath>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/nearest.h"
#include "attune/kernels/reference/nearest.h"
#include "attune/nn/attention/family.h"
#include "attune/nn/memory/key_memory.h"
#include "attune/ops/activation.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/retrieved_attention.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

struct KnnSizes {
  std::int64_t local = 128, neighbours = 32;
  std::int64_t exact_up_to = 262144;  // tokens of a sequence; in a longer one a graph is searched
};

/// All neighbours of a batch: [tokens, heads, each]. Source 0 is the batch itself, source 1 a memory of other texts.
struct Lookup {
  std::int64_t heads = 0, each = 0;
  std::vector<Neighbour> found;

  Neighbour* of(std::int64_t token, std::int64_t head) { return found.data() + (token * heads + head) * each; }
  bool any(std::int64_t token) const {
    const auto begin = found.begin() + token * heads * each;
    return std::any_of(begin, begin + heads * each, [](const Neighbour& n) { return n.source >= 0; });
  }
};

template <class T>
kernels::Matrix<T> head_of(const Tensor& x, std::int64_t begin, std::int64_t end, std::int64_t head) {
  return {x.data<T>() + begin * x.stride(0) + head * x.stride(1), end - begin, x.dim(2), x.stride(0), 1};
}

class Knn : public AttentionFamily {
 public:
  Knn(const Weights& w, const FamilyUse& use, const KnnSizes& sizes)
      : sizes_(sizes), gate_(w.parameter("memory_gate", {use.sizes.heads}, Initial::zeros())) {}

  Tensor mix(const Input& in) const override {
    const AttentionSequences sequences{in.batch.offsets, in.batch.offsets, {}, in.batch.examples};
    const Tensor local = attention(in.q, in.k, in.v, sequences, in.rule);
    std::vector<RetrievedSource> sources = {{in.k.detached(), in.v.detached()}};
    const KeyMemory* others = in.batch.lookup;
    if (others) sources.push_back({others->keys().to(in.k.dtype()), others->values().to(in.k.dtype())});
    Lookup lookup{.heads = in.q.dim(1), .each = sizes_.neighbours * (others ? 2 : 1), .found = {}};
    lookup.found.resize(static_cast<std::size_t>(in.q.dim(0) * lookup.heads * lookup.each));
    find_further_back(in, lookup);
    if (others) find_in(*others, in.q, lookup);
    if (in.batch.record) record(in, *in.batch.record);
    const double scale = in.rule.scale.value_or(1 / std::sqrt(static_cast<double>(in.q.dim(2))));
    const Tensor far = retrieved_attention(in.q, sources, lookup.found, scale);
    return add(local, multiply(gates(in, lookup), add(far, attune::scale(local, -1))));
  }

 private:
  /// g of each token and head where the token found something, 0 where not: [tokens, heads, head_dim].
  Tensor gates(const Input& in, const Lookup& lookup) const {
    const std::int64_t tokens = in.q.dim(0), heads = lookup.heads, width = in.v.dim(2);
    const Tensor g = activation(reshape(gate_, {heads, 1}), Activation::sigmoid);
    std::vector<std::int64_t> head_of_column, row_of_token;
    for (std::int64_t c = 0; c < heads * width; ++c) head_of_column.push_back(c / width);
    for (std::int64_t t = 0; t < tokens; ++t) row_of_token.push_back(lookup.any(t) ? 0 : 1);
    const Tensor open =
        reshape(select_rows(g, Tensor::from<std::int64_t>({heads * width}, head_of_column)), {1, heads * width});
    const Tensor shut = Tensor::zeros({1, heads * width}, g.dtype());
    const Tensor rows = select_rows(concatenate_rows({open, shut}), Tensor::from<std::int64_t>({tokens}, row_of_token));
    return reshape(rows, {tokens, heads, width});
  }

  /// Among the keys of the same sequence that lie before the window.
  void find_further_back(const Input& in, Lookup& lookup) const {
    const std::int64_t kv_heads = in.k.dim(1), group = lookup.heads / kv_heads;
    const Offsets& offsets = in.batch.offsets;
    parallel(offsets.count() * kv_heads, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t piece = first; piece < last; ++piece) {
        const std::int64_t sequence = piece / kv_heads, kv_head = piece % kv_heads;
        if (offsets.length(sequence) <= sizes_.local) continue;
        if (in.q.dtype() == DType::F32 && offsets.length(sequence) > sizes_.exact_up_to) {
          search_graph(in, sequence, kv_head, lookup);
          continue;
        }
        for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head)
          if (in.q.dtype() == DType::F32)
            search_all<float>(in, sequence, head, lookup);
          else
            search_all<double>(in, sequence, head, lookup);
      }
    });
  }

  template <class T>
  void search_all(const Input& in, std::int64_t sequence, std::int64_t head, Lookup& lookup) const {
    const std::int64_t begin = in.batch.offsets.begin(sequence), end = in.batch.offsets.end(sequence);
    const std::int64_t kv_head = head / (lookup.heads / in.k.dim(1)), start = begin + sizes_.local;
    std::vector<std::int64_t> visible, best(static_cast<std::size_t>((end - start) * sizes_.neighbours));
    for (std::int64_t t = start; t < end; ++t) visible.push_back(t - start + 1);
    kernels::nearest(head_of<T>(in.q, start, end, head), head_of<T>(in.k, begin, end, kv_head), visible,
                     sizes_.neighbours, best.data());
    for (std::int64_t t = start; t < end; ++t)
      for (std::int64_t n = 0; n < sizes_.neighbours; ++n) {
        const std::int64_t row = best[static_cast<std::size_t>((t - start) * sizes_.neighbours + n)];
        if (row >= 0) lookup.of(t, head)[n] = {0, begin + row};
      }
  }

  /// Each token's key joins the graph when it leaves the window.
  void search_graph(const Input& in, std::int64_t sequence, std::int64_t kv_head, Lookup& lookup) const {
    const std::int64_t begin = in.batch.offsets.begin(sequence), end = in.batch.offsets.end(sequence);
    const std::int64_t group = lookup.heads / in.k.dim(1);
    const kernels::Matrix<float> keys = head_of<float>(in.k, begin, end, kv_head);
    NeighbourGraph graph(in.k.dim(2), {});
    std::vector<std::int64_t> best(static_cast<std::size_t>(sizes_.neighbours));
    for (std::int64_t t = begin + sizes_.local; t < end; ++t) {
      graph.add(&keys(t - begin - sizes_.local, 0));
      for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        const kernels::Matrix<float> query = head_of<float>(in.q, t, t + 1, head);
        const std::int64_t count = graph.nearest(query.data, best);
        for (std::int64_t n = 0; n < count; ++n) lookup.of(t, head)[n] = {0, begin + best[static_cast<std::size_t>(n)]};
      }
    }
  }

  void find_in(const KeyMemory& memory, const Tensor& q, Lookup& lookup) const {
    const Tensor queries = q.detached().to(DType::F32);
    const std::int64_t group = lookup.heads / memory.sizes().kv_heads, count = sizes_.neighbours;
    std::vector<std::int64_t> best(static_cast<std::size_t>(q.dim(0) * count));
    for (std::int64_t head = 0; head < lookup.heads; ++head) {
      memory.nearest(head_of<float>(queries, 0, q.dim(0), head), head / group, count, best.data());
      for (std::int64_t t = 0; t < q.dim(0); ++t)
        for (std::int64_t n = 0; n < count; ++n) {
          const std::int64_t slot = best[static_cast<std::size_t>(t * count + n)];
          if (slot >= 0) lookup.of(t, head)[count + n] = {1, slot};
        }
    }
  }

  static void record(const Input& in, KeyMemory& memory) {
    for (std::int64_t s = 0; s < in.batch.offsets.count(); ++s) {
      const std::int64_t begin = in.batch.offsets.begin(s), end = in.batch.offsets.end(s);
      auto rows = [&](const Tensor& x) { return x.detached().rows(begin, end).contiguous().to(DType::F32); };
      memory.add(rows(in.k), rows(in.v), in.batch.examples[static_cast<std::size_t>(s)]);
    }
  }

  KnnSizes sizes_;
  Tensor gate_;  // [heads]
};

const RegisterFamily knn({
    .name = "knn",
    .paper = "Wu et al. 2022, Memorizing Transformers",
    .in_encoder = false,
    .writes_text = false,
    .build = [](const ConfigReader& config, const FamilyUse& use, const Weights& w) -> FamilyParts {
      KnnSizes sizes;
      sizes.local = config.integer_or("local", 128, {.at_least = 1, .at_most = 1 << 30});
      sizes.neighbours = config.integer_or("neighbours", 32, {.at_least = 1, .at_most = 4096});
      sizes.exact_up_to = config.integer_or("exact_up_to", sizes.exact_up_to, {.at_least = 0});
      // The paper's: the ninth of twelve.
      const std::int64_t otherwise = std::max<std::int64_t>(0, use.layers * 3 / 4 - 1);
      const std::int64_t chosen =
          config.integer_or("layer", otherwise, {.at_least = 0, .at_most = static_cast<double>(use.layers - 1)});
      FamilyParts parts{.rule = {.mask = causal() & window(sizes.local - 1, 0)}};
      if (use.layer == chosen) parts.mixer = std::make_shared<Knn>(w, use, sizes);
      parts.mixer_takes_scores = true;  // of the window; what is looked up has no place
      return parts;
    },
});

}  // namespace

}  // namespace attune
