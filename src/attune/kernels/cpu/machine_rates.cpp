#include "attune/kernels/cpu/machine_rates.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "attune/base/threads.h"
#include "attune/kernels/cpu/quantised_kernels.h"
#include "attune/kernels/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/machine_rates.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Twelve chains, which hide the latency on every CPU so far. Returns the operations done.
double multiply_adds(std::int64_t steps, float* out) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const V a = hn::Set(d, 0.999f), b = hn::Set(d, out[0]);
  // Each begins elsewhere: equal ones the compiler would compute once.
  const auto begin = [&](float from) HWY_ATTR { return hn::Set(d, from); };
  V s0 = begin(0), s1 = begin(1), s2 = begin(2), s3 = begin(3), s4 = begin(4), s5 = begin(5);
  V s6 = begin(6), s7 = begin(7), s8 = begin(8), s9 = begin(9), s10 = begin(10), s11 = begin(11);
  for (std::int64_t i = 0; i < steps; ++i) {
    s0 = hn::MulAdd(s0, a, b), s1 = hn::MulAdd(s1, a, b), s2 = hn::MulAdd(s2, a, b), s3 = hn::MulAdd(s3, a, b);
    s4 = hn::MulAdd(s4, a, b), s5 = hn::MulAdd(s5, a, b), s6 = hn::MulAdd(s6, a, b), s7 = hn::MulAdd(s7, a, b);
    s8 = hn::MulAdd(s8, a, b), s9 = hn::MulAdd(s9, a, b), s10 = hn::MulAdd(s10, a, b), s11 = hn::MulAdd(s11, a, b);
  }
  const V sum = hn::Add(hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7))),
                        hn::Add(hn::Add(s8, s9), hn::Add(s10, s11)));
  out[0] = hn::GetLane(sum);
  return 2.0 * 12.0 * static_cast<double>(steps) * static_cast<double>(hn::Lanes(d));
}

float read(const float* from, std::int64_t count) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (std::int64_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    for (std::int64_t j = 0; j < 4 * lanes; j += 16) __builtin_prefetch(from + i + j + 512);
    s0 = hn::Add(s0, hn::LoadU(d, from + i));
    s1 = hn::Add(s1, hn::LoadU(d, from + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, from + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, from + i + 3 * lanes));
  }
  return hn::GetLane(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(multiply_adds);
HWY_EXPORT(read);

namespace {

template <class Work>
double shortest_seconds(int times, Work&& work) {
  double best = 1e30;
  for (int i = 0; i < times; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

namespace {

/// Operations a second of `work(result)`, which returns how many it has done. Small pieces, as a matmul's are: a thread
/// that another program keeps from its core holds up only one.
template <class Result, class Work>
double rate_of(Result first, Work&& work) {
  constexpr int pieces_of_thread = 30;
  constexpr std::size_t apart = 16;  // results on lines of their own
  const std::int64_t pieces = std::int64_t{pieces_of_thread} * num_threads();
  std::vector<Result> out(static_cast<std::size_t>(pieces) * apart, first);
  double operations_of_piece = 0;
  const double seconds = shortest_seconds(20, [&] {
    parallel(pieces, 1, [&](std::int64_t i, std::int64_t) {
      const double done = work(&out[static_cast<std::size_t>(i) * apart]);
      if (i == 0) operations_of_piece = done;
    });
  });
  return operations_of_piece * static_cast<double>(pieces) / seconds;
}

constexpr std::int64_t steps = 50000;

}  // namespace

double multiply_add_rate() {
  return rate_of(0.5f, [](float* out) { return HWY_DYNAMIC_DISPATCH(multiply_adds)(steps, out); });
}

double byte_multiply_add_rate() {
  return rate_of(std::int32_t{1}, [](std::int32_t* out) { return integer_kernels().plain_products(steps, out); });
}

double read_rate(std::int64_t floats) {
  constexpr std::int64_t piece = 1 << 16;
  Workspace<float> values(std::max<std::int64_t>(floats, 1));
  std::fill(values.span().begin(), values.span().end(), 1.0f);
  std::vector<float> sums(static_cast<std::size_t>((floats + piece - 1) / piece) + 1);
  const double seconds = shortest_seconds(20, [&] {
    parallel(floats, piece, [&](std::int64_t begin, std::int64_t end) {
      sums[static_cast<std::size_t>(begin / piece)] = HWY_DYNAMIC_DISPATCH(read)(values.data() + begin, end - begin);
    });
  });
  return 4.0 * static_cast<double>(floats) / seconds;
}

}  // namespace attune::kernels
#endif
