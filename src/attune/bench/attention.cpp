#include "attune/bench/attention.h"

#include <fmt/core.h>

#include <chrono>
#include <set>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/bench/threads_restored.h"
#include "attune/bench/timing.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/ops/attention.h"

namespace attune::bench {

namespace {

constexpr std::int64_t heads = 12, head_dim = 64;

struct AttentionCase {
  std::int64_t tokens;
  bool causal, backward;

  std::string name() const {
    return fmt::format("{} {}{}", tokens, causal ? "causal" : "bidirectional", backward ? " and backward" : "");
  }
  double operations() const {
    const auto n = static_cast<double>(tokens);
    const double pairs = causal ? n * (n + 1) / 2 : n * n;
    return (backward ? 7 : 2) * 2 * pairs * static_cast<double>(heads * head_dim);
  }
};

std::vector<AttentionCase> cases() {
  std::vector<AttentionCase> all;
  for (std::int64_t tokens : {512, 2048, 8192})
    for (bool causal : {true, false})
      for (bool backward : {false, true}) all.push_back({tokens, causal, backward});
  return all;
}

Tensor random_heads(std::int64_t tokens, std::string_view site) {
  RandomStream random(RandomKey{.seed = 1}.at(site));
  std::vector<float> values(static_cast<std::size_t>(tokens * heads * head_dim));
  for (float& value : values) value = static_cast<float>(random.uniform() * 2 - 1);
  return Tensor::from<float>({tokens, heads, head_dim}, values);
}

double seconds_of(const AttentionCase& one) {
  Tensor q = random_heads(one.tokens, "q"), k = random_heads(one.tokens, "k"), v = random_heads(one.tokens, "v");
  const Tensor dy = random_heads(one.tokens, "dy");
  if (one.backward) q = require_gradient(q), k = require_gradient(k), v = require_gradient(v);
  const auto sequences = AttentionSequences::of(Offsets::from_lengths(std::span(&one.tokens, 1)));
  auto work = [&] {
    const Tensor y = attune::attention(q, k, v, sequences, {.mask = one.causal ? causal() : bidirectional()});
    if (!one.backward) return;
    attune::backward(y, dy);
    for (const Tensor& x : {q, k, v}) set_gradient(x, Tensor());
  };
  if (one.operations() < 20e9) return median_seconds(work);
  const auto begin = std::chrono::steady_clock::now();  // seconds long: once is enough
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<std::string> attention_names() {
  std::vector<std::string> names;
  for (const AttentionCase& one : cases()) names.push_back(one.name());
  return names;
}

void attention(const Report& report, const Run& run) {
  ThreadsRestored restored;
  for (int threads : std::set<int>{1, restored.before}) {
    set_num_threads(threads);
    const double limit = kernels::multiply_add_rate();
    for (const AttentionCase& one : cases()) {
      if (run.cancelled()) throw Cancelled("bench attention: stopped");
      if (!report.wants(one.name())) continue;
      report({"attention", one.name(), threads, one.operations() / seconds_of(one) * 1e-9, "GFLOP/s", limit * 1e-9});
    }
  }
}

}  // namespace attune::bench
