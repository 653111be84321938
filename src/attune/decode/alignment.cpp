#include "attune/decode/alignment.h"

#include <algorithm>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"

namespace attune {

namespace {

/// Keeps, of one layer, the source token with the largest mean weight for each query.
class LookedAt : public Observer {
 public:
  LookedAt(int layer, std::size_t sequences) : positions(sequences), layer_(layer) {}
  std::vector<std::vector<std::int64_t>> positions;

  void hidden_state(Stack, int, const Tensor&) override {}
  bool wants_attention(Stack, int) const override { return false; }
  void attention(Stack, int, std::int64_t, const Tensor&) override {}
  bool wants_cross_attention(int layer) const override { return layer == layer_; }
  void cross_attention(int, std::int64_t sequence, const Tensor& weights) override {
    const std::int64_t heads = weights.dim(0), queries = weights.dim(1), keys = weights.dim(2);
    std::vector<float> values = weights.to_vector<float>();  // [heads, queries, keys]
    for (std::int64_t q = 0; q < queries; ++q) {
      std::vector<double> sum(static_cast<std::size_t>(keys));
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t k = 0; k < keys; ++k)
          sum[static_cast<std::size_t>(k)] +=
              static_cast<double>(values[static_cast<std::size_t>((h * queries + q) * keys + k)]);
      positions[static_cast<std::size_t>(sequence)].push_back(std::max_element(sum.begin(), sum.end()) - sum.begin());
    }
  }

 private:
  int layer_;
};

}  // namespace

std::vector<std::vector<std::int64_t>> align(const Model& model, const std::vector<std::vector<std::int64_t>>& sources,
                                             const std::vector<std::vector<std::int64_t>>& written,
                                             std::optional<std::int64_t> begin_id) {
  check(sources.size() == written.size(), "alignment: {} sources for {} texts", sources.size(), written.size());
  if (!begin_id) begin_id = model.facts().decoder_start_token_id;
  check(begin_id.has_value(), "alignment: this {} model has no decoder that reads a source", model.facts().model_type);
  if (sources.empty()) return {};
  NoGradient none;
  std::vector<std::vector<std::int64_t>> read;  // by the decoder: what it begins with, and all but the last token
  for (const auto& text : written) {
    read.emplace_back();
    if (text.empty()) continue;
    read.back().push_back(*begin_id);
    read.back().insert(read.back().end(), text.begin(), text.end() - 1);
  }
  auto layers = static_cast<int>(model.decoding_blocks().size());
  LookedAt looked_at(std::max(0, layers - 2), sources.size());
  model.forward(Batch::of(read), model.encode(Batch::of(sources)), &looked_at);
  return std::move(looked_at.positions);
}

}  // namespace attune
