#include "attune/bench/attention.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/bench/attention_cases.h"
#include "attune/bench/peak_memory.h"
#include "attune/bench/threads_restored.h"
#include "attune/bench/timing.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/ops/attention.h"
#include "attune/ops/attention_scores.h"
#include "attune/ops/relative_buckets.h"
#include "attune/tensor/storage.h"

namespace attune::bench {

namespace {

Tensor random_of(const Shape& shape, std::string_view site) {
  RandomStream random(RandomKey{.seed = 1}.at(site));
  Tensor x = Tensor::empty(shape);
  for (float& value : x.mutable_values<float>()) value = static_cast<float>(random.uniform() * 2 - 1);
  return x;
}

/// The inputs of a case and its one call.
struct Work {
  AttentionSequences sequences;
  std::vector<Tensor> leaves;  // q, k, v, then what the score change learns
  Tensor dy;
  AttentionRule rule;
  bool backward;

  explicit Work(const AttentionCase& one)
      : sequences(AttentionSequences::of(Offsets::from_lengths(one.lengths))),
        dy(one.backward ? random_of({one.tokens(), one.heads, one.head_dim}, "dy") : Tensor()),
        backward(one.backward) {
    for (const char* name : {"q", "k", "v"}) add(random_of({one.tokens(), one.heads, one.head_dim}, name));
    rule = one.rule_mask() + scores(one);
    if (one.scores == "deberta") rule.scale = 1 / std::sqrt(3.0 * static_cast<double>(one.head_dim));
  }

  void operator()() const {
    const Tensor y = attune::attention(leaves[0], leaves[1], leaves[2], sequences, rule);
    if (!backward) return;
    attune::backward(y, dy);
    for (const Tensor& x : leaves) set_gradient(x, Tensor());
  }

 private:
  const Tensor& add(const Tensor& x) {
    leaves.push_back(backward ? require_gradient(x) : x);
    return leaves.back();
  }

  ScoreChanges scores(const AttentionCase& one) {
    if (one.scores == "t5")
      return distance_bias(add(random_of({32, one.heads}, "table")), [](std::int64_t d) { return t5_bucket(d, {}); });
    if (one.scores == "alibi") {
      std::vector<double> slopes;
      for (std::int64_t h = 1; h <= one.heads; ++h)
        slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(one.heads)));
      return alibi(slopes);
    }
    if (one.scores == "deberta") {
      const auto bucket = [](std::int64_t d) { return deberta_bucket(d, {}); };
      const Tensor keys = add(random_of({512, one.heads, one.head_dim}, "c2p"));
      return relative_keys(keys, bucket) +
             relative_queries(add(random_of({512, one.heads, one.head_dim}, "p2c")), bucket);
    }
    return {};
  }
};

double seconds_of(const AttentionCase& one, const Work& work) {
  if (one.operations() < 20e9) return median_seconds(work);
  if (one.operations() < 500e9) work();                 // the first call asks the system for memory
  const auto begin = std::chrono::steady_clock::now();  // longer than the noise: once is enough
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What one call adds to what the process holds with the inputs: by the system's count, or by the allocator's where
/// that is more, since it may hand out pages that the process holds already.
double added_mb(const Work& work) {
  begin_peak_memory();
  reset_peak_in_use();
  const double before = peak_memory_mb();
  const std::int64_t in_use = allocator_statistics().bytes_in_use;
  work();
  return std::max(peak_memory_mb() - before, static_cast<double>(allocator_statistics().peak_in_use - in_use) * 1e-6);
}

void measure(const AttentionCase& one, int threads, double limit, const Report& report) {
  const bool speed = report.wants(one.name), memory = one.memory && report.wants(one.memory_name());
  if (!speed && !memory) return;
  begin_peak_memory();
  const Work work(one);
  const double added = memory && !one.long_ ? added_mb(work) : 0;
  if (speed)
    report({"attention", one.name, threads, one.operations() / seconds_of(one, work) * 1e-9, "GFLOP/s", limit * 1e-9});
  if (!memory) return;
  if (!one.long_) return report({"attention", one.memory_name(), threads, added, "MB", one.result_bytes() * 1e-6});
  // The long one's figure is of the whole process: of its four tensors that come in and those that come out.
  if (!speed) work();
  report({"attention", one.memory_name(), threads, peak_memory_mb(), "MB", 2 * one.result_bytes() * 1e-6});
}

}  // namespace

std::vector<std::string> attention_names() {
  std::vector<std::string> names;
  for (const AttentionCase& one : attention_cases()) {
    names.push_back(one.name);
    if (one.memory) names.push_back(one.memory_name());
  }
  return names;
}

void attention(const Report& report, const Run& run) {
  ThreadsRestored restored;
  for (int threads : std::set<int>{1, restored.before}) {
    set_num_threads(threads);
    const double limit = kernels::multiply_add_rate();
    for (const AttentionCase& one : attention_cases()) {
      if (run.cancelled()) throw Cancelled("bench attention: stopped");
      if (!one.long_ || threads == restored.before) measure(one, threads, limit, report);
    }
  }
}

}  // namespace attune::bench
