#include "attune/ops/attention_setting.h"

#include <cmath>

#include "attune/base/error.h"

namespace attune {

AttentionSetting::AttentionSetting(std::string_view operation, AttentionSequences sequences, const AttentionRule& rule,
                                   const Tensor& q, const Tensor& k)
    : sequences_(std::move(sequences)),
      dropout_(rule.dropout),
      scale_(rule.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(2))))),
      cap_(rule.scores.cap) {
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
  add_terms(operation, rule, q, k);
}

void AttentionSetting::add_terms(std::string_view operation, const AttentionRule& rule, const Tensor& q,
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
    ScoreAddition made = addition({q, k, scale_, smallest_, largest});
    check(made.values.dtype() == q.dtype(), "{}: a score change is {}, q is {}: expected one type", operation,
          name_of(made.values.dtype()), name_of(q.dtype()));
    if (made.kind == kernels::ScoreTermKind::pair)
      check(first_query >= 0 && last_query < made.values.dim(1) && most_keys <= made.values.dim(2),
            "{}: a bias of {} queries and {} keys, and there are queries at {} to {} and {} keys", operation,
            made.values.dim(1), made.values.dim(2), first_query, last_query, most_keys);
    kinds_.push_back(made.kind);
    buckets_.push_back(std::move(made.buckets));
    learned_.push_back(std::move(made.values));
  }
  if (!rule.scores.sinks.defined()) return;
  const Tensor& sinks = rule.scores.sinks;
  check(sinks.dim(0) == q.dim(1) && sinks.dtype() == q.dtype(), "{}: sinks {} {} for {} heads of {}", operation,
        name_of(sinks.dtype()), sinks.shape(), q.dim(1), name_of(q.dtype()));
  has_sinks_ = true;
  learned_.push_back(sinks);
}

template <class T>
kernels::AttentionProblem<T> AttentionSetting::problem(std::vector<kernels::ScoreTerm<T>>& terms) const {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const Tensor& values = learned_[i];  // [heads, ...], or for a query's numbers [q_tokens, heads, columns]
    const bool rows_first = kinds_[i] == kernels::ScoreTermKind::query;
    terms.push_back({.kind = kinds_[i],
                     .values = values.data<T>(),
                     .head_stride = values.stride(rows_first ? 1 : 0),
                     .row_stride = values.stride(rows_first ? 0 : 1),
                     .columns = values.dim(kinds_[i] == kernels::ScoreTermKind::key ? 1 : -1),
                     .buckets = buckets_[i].empty() ? nullptr : buckets_[i].data(),
                     .smallest = smallest_});
  }
  return {.query_starts = sequences_.queries.starts(),
          .key_starts = sequences_.keys.starts(),
          .first_positions = sequences_.first_positions,
          .examples = sequences_.examples,
          .mask = mask_,
          .scale = scale_,
          .cap = cap_,
          .terms = terms,
          .sinks = has_sinks_ ? learned_.back().data<T>() : nullptr,
          .dropout = dropout_};
}

template kernels::AttentionProblem<float> AttentionSetting::problem(std::vector<kernels::ScoreTerm<float>>&) const;
template kernels::AttentionProblem<double> AttentionSetting::problem(std::vector<kernels::ScoreTerm<double>>&) const;

}  // namespace attune
