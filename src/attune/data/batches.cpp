#include "attune/data/batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"

namespace attune {

namespace {

void check_batches(std::span<const std::int64_t> lengths, const BatchOptions& options) {
  check(options.batch_tokens >= 0 && options.batch_size >= 0,
        "making batches: batch_tokens {} and batch_size {} must not be negative", options.batch_tokens,
        options.batch_size);
  check(options.batch_tokens > 0 || options.batch_size > 0, "making batches: give batch_tokens or batch_size");
  for (std::size_t i = 0; i < lengths.size(); ++i)
    check(lengths[i] >= 0, "making batches: example {} has {} tokens", i, lengths[i]);
}

/// Fills one batch at a time.
class Filler {
 public:
  explicit Filler(const BatchOptions& options) : options_(options) {}

  bool fits(std::int64_t length) const {
    if (batch_.empty()) return true;
    bool tokens = options_.batch_tokens == 0 || tokens_ + length <= options_.batch_tokens;
    bool size = options_.batch_size == 0 || static_cast<std::int64_t>(batch_.size()) < options_.batch_size;
    return tokens && size;
  }
  void add(std::int64_t example, std::int64_t length) {
    batch_.push_back(example);
    tokens_ += length;
  }
  std::vector<std::int64_t> take() {
    tokens_ = 0;
    return std::exchange(batch_, {});
  }
  bool empty() const { return batch_.empty(); }

 private:
  const BatchOptions& options_;
  std::vector<std::int64_t> batch_;
  std::int64_t tokens_ = 0;
};

}  // namespace

std::vector<std::int64_t> epoch_order(std::int64_t examples, const BatchOptions& options, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(examples));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (options.order == BatchOrder::shuffled) {
    RandomStream random(RandomKey{options.seed, static_cast<std::uint64_t>(epoch)}.at("batches"));
    random.shuffle(order);
  }
  return order;
}

std::vector<std::vector<std::int64_t>> make_batches(std::span<const std::int64_t> lengths, const BatchOptions& options,
                                                    std::int64_t epoch) {
  check_batches(lengths, options);
  std::vector<std::vector<std::int64_t>> batches;
  Filler filler(options);
  for (std::int64_t example : epoch_order(static_cast<std::int64_t>(lengths.size()), options, epoch)) {
    std::int64_t length = lengths[static_cast<std::size_t>(example)];
    if (!filler.fits(length)) batches.push_back(filler.take());
    filler.add(example, length);
  }
  if (!filler.empty()) batches.push_back(filler.take());
  return batches;
}

std::vector<std::int64_t> count_batches(std::span<const std::int64_t> lengths, const BatchOptions& options,
                                        std::int64_t begin, std::int64_t end) {
  check(0 <= begin && begin <= end, "making batches: there are no epochs {} to {}", begin, end);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(end - begin));
  // Where the order changes nothing, the first epoch's count is everyone's.
  bool equal = std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>()) == lengths.end();
  if (options.batch_tokens == 0 || options.order == BatchOrder::sequential || equal) {
    std::ranges::fill(counts, static_cast<std::int64_t>(make_batches(lengths, options, 0).size()));
    return counts;
  }
  check_batches(lengths, options);
  parallel(end - begin, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t epoch = first; epoch < last; ++epoch) {
      std::int64_t batches = 0, tokens = 0, size = 0;
      for (std::int64_t example : epoch_order(static_cast<std::int64_t>(lengths.size()), options, begin + epoch)) {
        const std::int64_t length = lengths[static_cast<std::size_t>(example)];
        if (size == 0 || tokens + length > options.batch_tokens || size == options.batch_size) {
          ++batches;
          tokens = size = 0;
        }
        tokens += length;
        ++size;
      }
      counts[static_cast<std::size_t>(epoch)] = batches;
    }
  });
  return counts;
}

BatchStream::BatchStream(std::vector<std::int64_t> lengths, const BatchOptions& options, Place place)
    : lengths_(std::move(lengths)), options_(options), place_(place) {
  check_batches(lengths_, options_);
  auto count = static_cast<std::int64_t>(lengths_.size());
  check(count > 0, "making batches: there is no example");
  check(place.epoch >= 0 && place.next >= 0 && place.next < count,
        "making batches: example {} of epoch {} is outside of {} examples: the data changed", place.next, place.epoch,
        count);
  order_ = epoch_order(count, options_, place_.epoch);
}

std::vector<std::int64_t> BatchStream::next() {
  Filler filler(options_);
  // Examples without tokens never fill a budget of tokens: a batch ends after as many as there are.
  for (std::size_t taken = 0; taken < lengths_.size() || options_.batch_size > 0; ++taken) {
    std::int64_t example = order_[static_cast<std::size_t>(place_.next)];
    std::int64_t length = lengths_[static_cast<std::size_t>(example)];
    if (!filler.fits(length)) break;
    filler.add(example, length);
    if (++place_.next == static_cast<std::int64_t>(order_.size())) {
      place_ = {place_.epoch + 1, 0};
      order_ = epoch_order(static_cast<std::int64_t>(lengths_.size()), options_, place_.epoch);
    }
  }
  return filler.take();
}

}  // namespace attune
