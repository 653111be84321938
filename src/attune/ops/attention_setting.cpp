#include "attune/ops/attention_setting.h"

#include <cmath>

#include "attune/base/error.h"
#include "attune/base/threads.h"

namespace attune {

AttentionSetting::AttentionSetting(std::string_view operation, AttentionSequences sequences, const AttentionRule& rule,
                                   const Tensor& q, const Tensor& k)
    : sequences_(std::move(sequences)),
      dropout_(rule.dropout),
      scale_(rule.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(2))))),
      cap_(rule.scores.cap),
      heads_(q.dim(1)) {
  const auto count = static_cast<std::size_t>(sequences_.queries.count());
  std::vector<std::int64_t>& first = sequences_.first_positions;
  check(first.empty() || first.size() == count, "{}: {} first positions for {} sequences", operation, first.size(),
        count);
  for (std::size_t i = first.size(); i < count; ++i) {
    const auto s = static_cast<std::int64_t>(i);
    first.push_back(sequences_.keys.length(s) - sequences_.queries.length(s));
  }
  check(dropout_.rate >= 0 && dropout_.rate < 1, "{}: the dropout rate is {}: expected 0 <= rate < 1", operation,
        dropout_.rate);
  check(dropout_.rate == 0 || sequences_.examples.size() == count,
        "{}: dropout is keyed by example: {} ids for {} sequences", operation, sequences_.examples.size(), count);
  check(std::isfinite(scale_), "{}: the scale is {}", operation, scale_);

  std::vector<QuerySpan> spans;
  for (std::size_t i = 0; i < count; ++i) {
    const auto s = static_cast<std::int64_t>(i);
    spans.push_back({s, first[i], sequences_.queries.length(s), sequences_.keys.length(s)});
  }
  mask_ = rule.mask.compiled(spans);
  add_scores(operation, rule, q, k);
}

void AttentionSetting::add_scores(std::string_view operation, const AttentionRule& rule, const Tensor& q,
                                  const Tensor& k) {
  std::int64_t largest = 0, most_keys = 0, last_query = -1, first_query = 0;
  for (std::int64_t s = 0; s < sequences_.queries.count(); ++s) {
    const std::int64_t first = sequences_.first_positions[static_cast<std::size_t>(s)];
    const std::int64_t last = first + sequences_.queries.length(s) - 1, keys = sequences_.keys.length(s);
    if (keys == 0) continue;
    smallest_ = std::min(smallest_, -last);
    largest = std::max(largest, (keys + 63) / 64 * 64 - first);  // kernels take whole blocks of 64 keys
    most_keys = std::max(most_keys, keys), last_query = std::max(last_query, last);
    first_query = std::min(first_query, first);
  }
  for (const auto& addition : rule.scores.additions) {
    ScoreAddition made = addition({q, k, scale_, smallest_, largest, most_keys});
    for (const Tensor* x : {&made.values, &made.rows, &made.table})
      check(!x->defined() || x->dtype() == q.dtype(), "{}: a score change is {}, q is {}: expected one type", operation,
            name_of(x->dtype()), name_of(q.dtype()));
    if (made.kind == kernels::ScoreTermKind::pair)
      check(
          first_query >= 0 && (made.every_query || last_query < made.values.dim(1)) && most_keys <= made.values.dim(2),
          "{}: a bias of {} queries and {} keys, and there are queries at {} to {} and {} keys", operation,
          made.values.dim(1), made.values.dim(2), first_query, last_query, most_keys);
    additions_.push_back(std::move(made));
  }
  sinks_ = rule.scores.sinks;
  check(!sinks_.defined() || (sinks_.dim(0) == q.dim(1) && sinks_.dtype() == q.dtype()),
        "{}: sinks {} {} for {} heads of {}", operation, sinks_.defined() ? name_of(sinks_.dtype()) : "",
        sinks_.shape(), q.dim(1), name_of(q.dtype()));
}

std::vector<HeadRange> AttentionSetting::head_ranges(std::int64_t group) const {
  bool makes_products = false;
  for (const ScoreAddition& addition : additions_) makes_products |= addition.table.defined();
  const std::int64_t at_once = makes_products ? std::max<std::int64_t>(num_threads(), 1) * group : heads_;
  std::vector<HeadRange> ranges;
  for (std::int64_t h = 0; h < heads_; h += at_once) ranges.push_back({h, std::min(h + at_once, heads_)});
  return ranges;
}

template <class T>
PreparedAttention<T> AttentionSetting::prepare(const HeadRange& heads) const {
  PreparedAttention<T> ready;
  for (const ScoreAddition& addition : additions_) {
    const bool by_query = addition.kind == kernels::ScoreTermKind::query;
    ready.products.push_back(addition.table.defined() ? RelativeProducts(addition, heads).make() : Tensor());
    const bool made = ready.products.back().defined();
    const Tensor& values = made ? ready.products.back() : addition.values;  // heads first, but for a query's
    ready.terms.push_back({.kind = addition.kind,
                           .values = values.template data<T>() + (made ? 0 : heads.begin * values.stride(0)),
                           .head_stride = values.stride(by_query ? 1 : 0),
                           .row_stride = addition.every_query ? 0 : values.stride(by_query ? 0 : 1),
                           .columns = values.dim(addition.kind == kernels::ScoreTermKind::key ? 1 : -1),
                           .buckets = addition.buckets.empty() ? nullptr : addition.buckets.data(),
                           .smallest = smallest_});
  }
  ready.problem = {.query_starts = sequences_.queries.starts(),
                   .key_starts = sequences_.keys.starts(),
                   .first_positions = sequences_.first_positions,
                   .examples = sequences_.examples,
                   .mask = mask_,
                   .scale = scale_,
                   .cap = cap_,
                   .terms = ready.terms,
                   .sinks = sinks_.defined() ? sinks_.data<T>() + heads.begin : nullptr,
                   .dropout = dropout_,
                   .first_head = heads.begin};
  return ready;
}

template PreparedAttention<float> AttentionSetting::prepare(const HeadRange&) const;
template PreparedAttention<double> AttentionSetting::prepare(const HeadRange&) const;

}  // namespace attune
