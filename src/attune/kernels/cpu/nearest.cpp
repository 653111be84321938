#include "attune/kernels/cpu/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attune/kernels/cpu/matmul.h"
#include "attune/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/nearest.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

float inner_product(const float* a, const float* b, std::int64_t n) {
  return sum_of(
      n, [](auto x, auto y) HWY_ATTR { return hn::Mul(x, y); }, a, b);
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(inner_product);

float inner_product(const float* a, const float* b, std::int64_t n) {
  return HWY_DYNAMIC_DISPATCH(inner_product)(a, b, n);
}

namespace {

struct Candidate {
  float score;
  std::int64_t key;
};

/// a is to be found before b.
bool before(const Candidate& a, const Candidate& b) { return a.score != b.score ? a.score > b.score : a.key < b.key; }

/// The best of the scores that it has been shown, keys rising. It keeps more than it needs and throws the worse ones
/// out when it is full, which is cheaper than keeping them in order.
class Best {
 public:
  explicit Best(std::int64_t count)
      : count_(static_cast<std::size_t>(count)), room_(std::max<std::size_t>(128, 4 * count_)) {
    kept_.reserve(room_);
  }

  void show(const float* scores, std::int64_t n, std::int64_t first_key) {
    for (std::int64_t j = 0; j < n; ++j) {
      // Of equal ones the earlier is kept; what is no number comes in only where there are not enough others.
      if (bounded_ && !(scores[j] > bound_)) continue;
      kept_.push_back({std::isnan(scores[j]) ? -std::numeric_limits<float>::infinity() : scores[j], first_key + j});
      if (kept_.size() == room_) shrink();
    }
  }
  /// Writes `count` keys, -1 where there are fewer.
  void finish(std::int64_t* keys) {
    if (kept_.size() > count_) shrink();
    std::sort(kept_.begin(), kept_.end(), before);
    for (std::size_t i = 0; i < count_; ++i) keys[i] = i < kept_.size() ? kept_[i].key : -1;
  }

 private:
  void shrink() {
    const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
    std::nth_element(kept_.begin(), last, kept_.end(), before);
    kept_.resize(count_);
    bound_ = kept_.back().score, bounded_ = true;
  }

  std::size_t count_, room_;
  std::vector<Candidate> kept_;
  float bound_ = 0;
  bool bounded_ = false;
};

}  // namespace

void nearest(const Matrix<float>& queries, const Matrix<float>& keys, std::span<const std::int64_t> visible,
             std::int64_t count, std::int64_t* best) {
  if (count <= 0) return;
  constexpr std::int64_t together = 64, block = 1024;  // queries that share one reading of the keys; keys at a time
  parallel(queries.rows, together, [&](std::int64_t begin, std::int64_t end) {
    auto seen = [&](std::int64_t i) {
      return std::clamp<std::int64_t>(visible[static_cast<std::size_t>(i)], 0, keys.rows);
    };
    std::int64_t most = 0;
    for (std::int64_t i = begin; i < end; ++i) most = std::max(most, seen(i));
    Scratch scratch;
    float* scores = scratch.take((end - begin) * block);
    std::vector<Best> found(static_cast<std::size_t>(end - begin), Best(count));
    for (std::int64_t first = 0; first < most; first += block) {
      const std::int64_t width = std::min(block, most - first);
      const Rows<float> products{scores, end - begin, width, width};
      matmul(queries.rows_from(begin, end), keys.rows_from(first, first + width).transposed(), products);
      for (std::int64_t i = begin; i < end; ++i)
        found[static_cast<std::size_t>(i - begin)].show(products[i - begin], std::min(width, seen(i) - first), first);
    }
    for (std::int64_t i = begin; i < end; ++i) found[static_cast<std::size_t>(i - begin)].finish(best + i * count);
  });
}

}  // namespace attune::kernels
#endif
