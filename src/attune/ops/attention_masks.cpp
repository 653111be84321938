#include "attune/ops/attention_masks.h"

#include <bit>

#include "attune/base/error.h"

namespace attune {

namespace {

constexpr std::int64_t block_keys = 64;
constexpr std::int64_t far = std::int64_t{1} << 40;  // beyond every position, without overflow in sums

/// Bits of keys [begin, end) in the block.
std::uint64_t bits_between(std::int64_t begin, std::int64_t end, std::int64_t block) {
  return AttentionMask::first_bits(end - block) & ~AttentionMask::first_bits(begin - block);
}

template <class Pattern, class... Arguments>
AttentionMask make(Arguments&&... arguments) {
  return AttentionMask(std::make_shared<const Pattern>(std::forward<Arguments>(arguments)...));
}

/// What each query says of the keys, put together: for patterns whose bits are cheap and whose blocks are few.
Cover cover_by_bits(const MaskPattern& pattern, const QuerySpan& queries, const KeySpan& keys) {
  const std::int64_t block = keys.begin / block_keys * block_keys;
  const std::uint64_t asked = bits_between(keys.begin, keys.end, block);
  std::uint64_t any = 0, all = asked;
  for (std::int64_t i = 0; i < queries.count && (any == 0 || all == asked); ++i) {
    const std::uint64_t bits = pattern.bits({queries.sequence, queries.first + i, 1, queries.keys}, block) & asked;
    any |= bits, all &= bits;
  }
  return any == 0 ? Cover::none : all == asked ? Cover::all : Cover::some;
}

/// Keys [query - left, query + right].
struct Window final : MaskPattern {
  std::int64_t left, right;
  Window(std::int64_t l, std::int64_t r) : left(l), right(r) {}

  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    return bits_between(query.first - left, query.first + right + 1, block);
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    const std::int64_t last = queries.first + queries.count - 1;
    if (keys.end <= queries.first - left || keys.begin > last + right) return Cover::none;
    return keys.begin >= last - left && keys.end <= queries.first + right + 1 ? Cover::all : Cover::some;
  }
  PositionSpan viewers(const QuerySpan&, const KeySpan& keys) const override {
    return {keys.begin - right, keys.end + left};
  }
  KeySpan reach(const QuerySpan& queries) const override {
    return {queries.first - left, queries.first + queries.count + right};
  }
  bool hides_for_good(std::int64_t, std::int64_t first, const KeySpan& keys) const override {
    return keys.end <= first - left;
  }
};

/// Keys at multiples of `step` from the query, within [query - left, query + right].
struct Dilated final : MaskPattern {
  Window around;
  std::int64_t step;
  Dilated(std::int64_t left, std::int64_t right, std::int64_t s) : around(left, right), step(s) {}

  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    const std::int64_t first = ((query.first - block) % step + step) % step;
    std::uint64_t all = 0;
    for (std::int64_t j = first; j < block_keys; j += step) all |= std::uint64_t{1} << j;
    return all & around.bits(query, block);
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    const Cover whole = around.cover(queries, keys);
    return whole == Cover::all && step > 1 ? Cover::some : whole;
  }
  KeySpan reach(const QuerySpan& queries) const override { return around.reach(queries); }
  PositionSpan viewers(const QuerySpan& queries, const KeySpan& keys) const override {
    return around.viewers(queries, keys);
  }
  bool hides_for_good(std::int64_t sequence, std::int64_t first, const KeySpan& keys) const override {
    return around.hides_for_good(sequence, first, keys);
  }
};

/// Positions below a count: as keys, or as keys and queries both.
struct FirstPositions final : MaskPattern {
  std::int64_t count;
  bool queries_too;
  FirstPositions(std::int64_t n, bool both) : count(n), queries_too(both) {}

  bool sees_all(std::int64_t query) const { return queries_too && query < count; }
  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    return sees_all(query.first) ? ~std::uint64_t{0} : AttentionMask::first_bits(count - block);
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    if (keys.end <= count || sees_all(queries.first + queries.count - 1)) return Cover::all;
    return keys.begin >= count && !sees_all(queries.first) ? Cover::none : Cover::some;
  }
  PositionSpan viewers(const QuerySpan& queries, const KeySpan& keys) const override {
    return {queries.first, keys.begin < count ? queries.first + queries.count : queries_too ? count : queries.first};
  }
  KeySpan reach(const QuerySpan& queries) const override { return {0, sees_all(queries.first) ? queries.keys : count}; }
  bool hides_for_good(std::int64_t, std::int64_t first, const KeySpan& keys) const override {
    return keys.begin >= count && !sees_all(first);
  }
};

/// The value given for a sequence: one for each, or one alone for all.
template <class T>
const T& of_sequence(const std::vector<T>& values, std::int64_t sequence, const char* mask) {
  const auto s = values.size() == 1 ? std::size_t{0} : static_cast<std::size_t>(sequence);
  check(s < values.size(), "attention mask {}: values for {} sequences, and there is a sequence {}", mask,
        values.size(), sequence);
  return values[s];
}

/// Throws Error where a call has positions that a mask's values, `count` of them, do not reach.
void check_reaches(const char* mask, std::int64_t count, const QuerySpan& queries) {
  const std::int64_t positions = std::max(queries.keys, queries.count > 0 ? queries.first + queries.count : 0);
  check(count >= positions, "attention mask {}: values for {} positions, and sequence {} has {}", mask, count,
        queries.sequence, positions);
}

struct Prefix final : MaskPattern {
  std::vector<std::int64_t> lengths;
  explicit Prefix(std::vector<std::int64_t> l) : lengths(std::move(l)) {}

  std::shared_ptr<const MaskPattern> compiled(std::span<const QuerySpan> sequences) const override {
    for (const QuerySpan& queries : sequences) of_sequence(lengths, queries.sequence, "prefix");
    return nullptr;
  }
  std::int64_t seen(std::int64_t sequence, std::int64_t query) const {
    return std::max(of_sequence(lengths, sequence, "prefix"), query + 1);
  }
  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    return AttentionMask::first_bits(seen(query.sequence, query.first) - block);
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    if (keys.end <= seen(queries.sequence, queries.first)) return Cover::all;
    return keys.begin >= seen(queries.sequence, queries.first + queries.count - 1) ? Cover::none : Cover::some;
  }
  KeySpan reach(const QuerySpan& queries) const override {
    return {0, seen(queries.sequence, queries.first + queries.count - 1)};
  }
};

/// A query of kind a sees keys of kind b where table[a][b]; documents are kinds that see themselves alone.
struct Kinds final : MaskPattern {
  std::vector<std::vector<std::int64_t>> kind_of;
  std::vector<std::vector<bool>> table;  // empty: equal kinds see each other
  Kinds(std::vector<std::vector<std::int64_t>> kinds, std::vector<std::vector<bool>> t)
      : kind_of(std::move(kinds)), table(std::move(t)) {}

  std::shared_ptr<const MaskPattern> compiled(std::span<const QuerySpan> sequences) const override {
    for (const QuerySpan& queries : sequences)
      check_reaches(name(), std::ssize(of_sequence(kind_of, queries.sequence, name())), queries);
    return nullptr;
  }
  const char* name() const { return table.empty() ? "documents" : "cross_modal"; }

  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    const std::vector<std::int64_t>& kinds = of_sequence(kind_of, query.sequence, name());
    const auto count = static_cast<std::int64_t>(kinds.size());
    if (query.first < 0 || query.first >= count) return 0;
    const std::int64_t own = kinds[static_cast<std::size_t>(query.first)];
    std::uint64_t all = 0;
    for (std::int64_t j = block; j < std::min(block + block_keys, count); ++j) {
      const std::int64_t other = kinds[static_cast<std::size_t>(j)];
      const bool sees =
          table.empty() ? own == other : table[static_cast<std::size_t>(own)][static_cast<std::size_t>(other)];
      all |= std::uint64_t{sees} << (j - block);
    }
    return all;
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    return cover_by_bits(*this, queries, keys);
  }
};

struct Tree final : MaskPattern {
  std::vector<std::vector<std::uint64_t>> ancestors;  // [nodes][blocks], itself among them

  explicit Tree(const std::vector<std::int64_t>& parents) {
    for (std::size_t t = 0; t < parents.size(); ++t) {
      const std::int64_t parent = parents[t];
      check(parent >= -1 && parent < static_cast<std::int64_t>(t),
            "attention mask tree: the parent of node {} is {}: expected an earlier node, or -1", t, parent);
      std::vector<std::uint64_t> row(t / block_keys + 1);
      if (parent >= 0) std::ranges::copy(ancestors[static_cast<std::size_t>(parent)], row.begin());
      row[t / block_keys] |= std::uint64_t{1} << (t % block_keys);
      ancestors.push_back(std::move(row));
    }
  }
  std::shared_ptr<const MaskPattern> compiled(std::span<const QuerySpan> sequences) const override {
    for (const QuerySpan& queries : sequences) check_reaches("tree", std::ssize(ancestors), queries);
    return nullptr;
  }
  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    if (query.first < 0 || query.first >= static_cast<std::int64_t>(ancestors.size())) return 0;
    const auto& row = ancestors[static_cast<std::size_t>(query.first)];
    const auto b = static_cast<std::size_t>(block / block_keys);
    return b < row.size() ? row[b] : 0;
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    return cover_by_bits(*this, queries, keys);
  }
  KeySpan reach(const QuerySpan& queries) const override { return {0, queries.first + queries.count}; }
};

struct Both final : MaskPattern {
  AttentionMask a, b;
  Both(AttentionMask x, AttentionMask y) : a(std::move(x)), b(std::move(y)) {}

  std::shared_ptr<const MaskPattern> compiled(std::span<const QuerySpan> sequences) const override {
    return std::make_shared<const Both>(a.compiled(sequences), b.compiled(sequences));
  }
  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    return a.bits(query, block) & b.bits(query, block);
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    const Cover x = a.cover(queries, keys);
    return x == Cover::none ? x : std::min(x, b.cover(queries, keys));
  }
  PositionSpan viewers(const QuerySpan& queries, const KeySpan& keys) const override {
    const PositionSpan x = a.viewers(queries, keys), y = b.viewers(queries, keys);
    return {std::max(x.begin, y.begin), std::min(x.end, y.end)};
  }
  KeySpan reach(const QuerySpan& queries) const override {
    const KeySpan x = a.reach(queries), y = b.reach(queries);
    return {std::max(x.begin, y.begin), std::min(x.end, y.end)};
  }
  bool hides_for_good(std::int64_t sequence, std::int64_t first, const KeySpan& keys) const override {
    return a.hides_for_good(sequence, first, keys) || b.hides_for_good(sequence, first, keys);
  }
};

struct Either final : MaskPattern {
  AttentionMask a, b;
  Either(AttentionMask x, AttentionMask y) : a(std::move(x)), b(std::move(y)) {}

  std::shared_ptr<const MaskPattern> compiled(std::span<const QuerySpan> sequences) const override {
    return std::make_shared<const Either>(a.compiled(sequences), b.compiled(sequences));
  }
  std::uint64_t bits(const QuerySpan& query, std::int64_t block) const override {
    return a.bits(query, block) | b.bits(query, block);
  }
  Cover cover(const QuerySpan& queries, const KeySpan& keys) const override {
    const Cover x = a.cover(queries, keys);
    return x == Cover::all ? x : std::max(x, b.cover(queries, keys));
  }
  PositionSpan viewers(const QuerySpan& queries, const KeySpan& keys) const override {
    const PositionSpan x = a.viewers(queries, keys), y = b.viewers(queries, keys);
    if (x.begin >= x.end) return y;
    return y.begin >= y.end ? x : PositionSpan{std::min(x.begin, y.begin), std::max(x.end, y.end)};
  }
  KeySpan reach(const QuerySpan& queries) const override {
    const KeySpan x = a.reach(queries), y = b.reach(queries);
    if (x.begin >= x.end) return y;
    if (y.begin >= y.end) return x;
    return {std::min(x.begin, y.begin), std::max(x.end, y.end)};
  }
  bool hides_for_good(std::int64_t sequence, std::int64_t first, const KeySpan& keys) const override {
    return a.hides_for_good(sequence, first, keys) && b.hides_for_good(sequence, first, keys);
  }
};

}  // namespace

AttentionMask bidirectional() { return {}; }

AttentionMask causal() {
  static const AttentionMask mask = make<Window>(far, 0);
  return mask;
}

AttentionMask window(std::int64_t left, std::int64_t right) {
  check(left >= 0 && right >= 0, "attention mask window: {} keys before and {} after: expected 0 or more", left, right);
  return make<Window>(std::min(left, far), std::min(right, far));
}

AttentionMask dilated(std::int64_t left, std::int64_t right, std::int64_t dilation) {
  check(left >= 0 && right >= 0 && dilation >= 1,
        "attention mask dilated: {} keys before, {} after, dilation {}: expected 0 or more, and 1 or more", left, right,
        dilation);
  const std::int64_t most = far / dilation;
  return make<Dilated>(std::min(left, most) * dilation, std::min(right, most) * dilation, dilation);
}

AttentionMask strided(std::int64_t stride) {
  check(stride >= 1, "attention mask strided: the stride is {}: expected 1 or more", stride);
  return window(stride - 1, 0) | AttentionMask(std::make_shared<const Dilated>(far, 0, stride));
}

AttentionMask first_keys(std::int64_t count) {
  check(count >= 0, "attention mask first_keys: {} keys: expected 0 or more", count);
  return make<FirstPositions>(count, false);
}

AttentionMask global_tokens(std::int64_t count) {
  check(count >= 0, "attention mask global_tokens: {} tokens: expected 0 or more", count);
  return make<FirstPositions>(count, true);
}

AttentionMask longformer(std::int64_t one_sided, std::int64_t globals) {
  return window(one_sided, one_sided) | global_tokens(globals);
}

AttentionMask prefix(std::vector<std::int64_t> lengths) { return make<Prefix>(std::move(lengths)); }

AttentionMask documents(std::vector<std::vector<std::int64_t>> document_of) {
  return make<Kinds>(std::move(document_of), std::vector<std::vector<bool>>());
}

AttentionMask cross_modal(std::vector<std::vector<std::int64_t>> kind_of, std::vector<std::vector<bool>> table) {
  const std::size_t kinds = table.size();
  check(kinds > 0, "attention mask cross_modal: the table is empty");
  for (const auto& row : table)
    check(row.size() == kinds, "attention mask cross_modal: the table has {} rows and a row of {}", kinds, row.size());
  for (const auto& sequence : kind_of)
    for (std::int64_t kind : sequence)
      check(kind >= 0 && kind < static_cast<std::int64_t>(kinds),
            "attention mask cross_modal: a token of kind {}, and the table has {} kinds", kind, kinds);
  return make<Kinds>(std::move(kind_of), std::move(table));
}

AttentionMask tree(std::vector<std::int64_t> parents) { return make<Tree>(parents); }

AttentionMask operator&(const AttentionMask& a, const AttentionMask& b) {
  if (a.hides_nothing()) return b;
  return b.hides_nothing() ? a : make<Both>(a, b);
}

AttentionMask operator|(const AttentionMask& a, const AttentionMask& b) {
  return a.hides_nothing() || b.hides_nothing() ? AttentionMask() : make<Either>(a, b);
}

}  // namespace attune
