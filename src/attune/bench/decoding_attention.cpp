#include "attune/bench/decoding_attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/bench/threads_restored.h"
#include "attune/bench/timing.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/nn/cache/attention_cached.h"

namespace attune::bench {

namespace {

constexpr std::int64_t context = 8192, kv_heads = 8, head_dim = 64;
constexpr std::int64_t bytes_read = std::int64_t{256} << 20;  // more than a CPU's caches hold

struct Case {
  CacheFormat format;
  std::int64_t group;

  std::string name() const { return fmt::format("8192 {} group {}", name_of(format), group); }
  std::string error_name(const char* which) const { return fmt::format("8192 {} {} error", name_of(format), which); }
  bool tells_errors() const { return format != CacheFormat::f32 && group == 1; }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (std::int64_t group : {1, 4})
    for (CacheFormat format : {CacheFormat::f32, CacheFormat::f16, CacheFormat::int8}) all.push_back({format, group});
  return all;
}

Tensor normal(const Shape& shape, std::string_view site) {
  RandomStream random(RandomKey{.seed = 1}.at(site));
  Tensor x = Tensor::empty(shape);
  for (float& value : x.mutable_values<float>()) value = static_cast<float>(random.normal());
  return x;
}

/// Sequences with the same tokens, each with keys of its own, as many as make up the bytes.
struct Cached {
  KeyValueCache cache;
  std::vector<KeyValueCache::Handle> handles;

  Cached(CacheFormat format, std::int64_t bytes, const Tensor& k, const Tensor& v)
      : cache({.layers = 1, .kv_heads = kv_heads, .head_dim = head_dim, .format = format}) {
    do {
      handles.push_back(cache.add());
      cache.append(0, std::span(&handles.back(), 1), Offsets::single(context), k, v);
    } while (cache.bytes() < bytes);
  }
  Tensor attend(const Tensor& q) const {
    const Offsets queries = Offsets::from_lengths(std::vector<std::int64_t>(handles.size(), 1));
    return attention_cached(q, queries, {cache, 0, handles}, {.mask = causal()});
  }
};

struct Errors {
  double largest = 0, mean = 0;  // of the largest and the mean magnitude of the exact results
};

Errors errors_of(const Tensor& y, const Tensor& exact) {
  double largest = 0, sum = 0, most = 0, magnitude = 0;
  const auto a = y.values<float>(), b = exact.values<float>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(b[i]), difference = std::abs(static_cast<double>(a[i]) - x);
    largest = std::max(largest, difference), sum += difference;
    most = std::max(most, std::abs(x)), magnitude += std::abs(x);
  }
  return {largest / most, sum / magnitude};
}

}  // namespace

std::vector<std::string> decoding_attention_names() {
  std::vector<std::string> names;
  for (const Case& one : cases()) {
    names.push_back(one.name());
    if (!one.tells_errors()) continue;
    names.push_back(one.error_name("largest"));
    names.push_back(one.error_name("mean"));
  }
  return names;
}

void decoding_attention(const Report& report, const Run& run) {
  ThreadsRestored restored;
  NoGradient none;
  const Tensor k = normal({context, kv_heads, head_dim}, "k"), v = normal({context, kv_heads, head_dim}, "v");
  for (const Case& one : cases()) {
    if (run.cancelled()) throw Cancelled("bench decode: stopped");
    if (report.wants(one.name())) {
      const Cached cached(one.format, bytes_read, k, v);
      const auto sequences = static_cast<std::int64_t>(cached.handles.size());
      const Tensor q = normal({sequences, kv_heads * one.group, head_dim}, "q");
      for (int threads : std::set<int>{1, restored.before}) {
        set_num_threads(threads);
        const double seconds = shortest_seconds([&] { cached.attend(q); }, 20);
        report({"decode", one.name(), threads, static_cast<double>(cached.cache.bytes()) / seconds * 1e-9, "GB/s",
                kernels::read_rate(cached.cache.bytes() / 4) * 1e-9});
      }
    }
    if (!one.tells_errors()) continue;
    const Tensor q = normal({1, kv_heads * 16, head_dim}, "q");
    const Errors errors = errors_of(Cached(one.format, 0, k, v).attend(q), Cached(CacheFormat::f32, 0, k, v).attend(q));
    if (report.wants(one.error_name("largest")))
      report({"decode", one.error_name("largest"), restored.before, errors.largest * 1e6, "ppm", 0});
    if (report.wants(one.error_name("mean")))
      report({"decode", one.error_name("mean"), restored.before, errors.mean * 1e6, "ppm", 0});
  }
}

}  // namespace attune::bench
