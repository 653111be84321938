#include "attune/baseline/tfidf.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/baseline/words.h"

namespace attune {
namespace {

std::uint64_t pair_key(std::int32_t first, std::int32_t second) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) << 32 | static_cast<std::uint32_t>(second);
}

// How many documents hold each word and each pair.
struct Frequencies {
  std::unordered_map<std::string, std::int32_t> ids;
  std::vector<std::string> names;
  std::vector<std::int32_t> words;  // [words]
  std::unordered_map<std::uint64_t, std::int32_t> pairs;

  void add(std::string_view text, bool with_pairs) {
    std::vector<std::int32_t> seen;
    std::vector<std::uint64_t> seen_pairs;
    for (std::string& word : lower_case_words(text)) {
      auto [found, fresh] = ids.try_emplace(std::move(word), static_cast<std::int32_t>(names.size()));
      if (fresh) names.push_back(found->first), words.push_back(0);
      if (!seen.empty() && with_pairs) seen_pairs.push_back(pair_key(seen.back(), found->second));
      seen.push_back(found->second);
    }
    auto distinct = [](auto& items) {
      std::sort(items.begin(), items.end());
      items.erase(std::unique(items.begin(), items.end()), items.end());
    };
    distinct(seen);
    distinct(seen_pairs);
    for (std::int32_t id : seen) ++words[static_cast<std::size_t>(id)];
    for (std::uint64_t pair : seen_pairs) ++pairs[pair];
  }
};

}  // namespace

struct TfidfVectorizer::TermCount {
  std::int32_t column;
  std::int32_t count;
};

SparseRows transposed(const SparseRows& matrix) {
  SparseRows out;
  out.width = matrix.rows();
  out.offsets.assign(static_cast<std::size_t>(matrix.width) + 1, 0);
  for (std::int32_t column : matrix.columns) ++out.offsets[static_cast<std::size_t>(column) + 1];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  out.columns.resize(matrix.columns.size());
  out.values.resize(matrix.values.size());
  std::vector<std::int64_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::int64_t row = 0; row < matrix.rows(); ++row)
    for (std::int64_t i = matrix.offsets[static_cast<std::size_t>(row)];
         i < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++i) {
      auto from = static_cast<std::size_t>(i);
      auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(matrix.columns[from])]++);
      out.columns[to] = static_cast<std::int32_t>(row);
      out.values[to] = matrix.values[from];
    }
  return out;
}

TfidfVectorizer TfidfVectorizer::fit(std::span<const std::string_view> texts, const TfidfOptions& options) {
  check(options.longest_ngram == 1 || options.longest_ngram == 2, "tf-idf: terms of {} words: expected 1 or 2",
        options.longest_ngram);
  Frequencies found;
  for (std::string_view text : texts) found.add(text, options.longest_ngram == 2);
  struct Term {
    std::string name;
    std::int32_t first, second, documents;  // second: -1 for a single word
  };
  std::vector<Term> terms;
  for (std::size_t id = 0; id < found.names.size(); ++id)
    if (found.words[id] >= options.least_documents)
      terms.push_back({found.names[id], static_cast<std::int32_t>(id), -1, found.words[id]});
  for (const auto& [pair, documents] : found.pairs) {
    if (documents < options.least_documents) continue;
    auto first = static_cast<std::int32_t>(pair >> 32), second = static_cast<std::int32_t>(pair & 0xffffffffu);
    terms.push_back({found.names[static_cast<std::size_t>(first)] + " " + found.names[static_cast<std::size_t>(second)],
                     first, second, documents});
  }
  check(!terms.empty(), "tf-idf: no word stands in {} or more of the {} texts: more or longer texts are needed",
        options.least_documents, texts.size());
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.name < b.name; });

  TfidfVectorizer out;
  out.options_ = options;
  // Only words that stand in a term keep an id.
  auto keep = [&](std::int32_t id) {
    auto [word, fresh] = out.word_ids_.try_emplace(found.names[static_cast<std::size_t>(id)],
                                                   static_cast<std::int32_t>(out.word_columns_.size()));
    if (fresh) out.word_columns_.push_back(-1);
    return word->second;
  };
  for (const Term& term : terms) {
    auto column = static_cast<std::int32_t>(out.idf_.size());
    out.idf_.push_back(std::log((1.0 + static_cast<double>(texts.size())) / (1.0 + term.documents)) + 1.0);
    std::int32_t first = keep(term.first);
    if (term.second < 0)
      out.word_columns_[static_cast<std::size_t>(first)] = column;
    else
      out.pair_columns_.emplace(pair_key(first, keep(term.second)), column);
  }
  return out;
}

std::int32_t TfidfVectorizer::pair_column(std::int32_t first, std::int32_t second) const {
  auto found = pair_columns_.find(pair_key(first, second));
  return found == pair_columns_.end() ? -1 : found->second;
}

std::int64_t TfidfVectorizer::column(const std::string& term) const {
  std::size_t space = term.find(' ');
  auto first = word_ids_.find(term.substr(0, space));
  if (first == word_ids_.end()) return -1;
  if (space == std::string::npos) return word_columns_[static_cast<std::size_t>(first->second)];
  auto second = word_ids_.find(term.substr(space + 1));
  return second == word_ids_.end() ? -1 : pair_column(first->second, second->second);
}

void TfidfVectorizer::count_terms(std::string_view text, std::vector<TermCount>& counts) const {
  std::vector<std::int32_t> columns;
  std::int32_t before = -1;
  for (const std::string& word : lower_case_words(text)) {
    auto found = word_ids_.find(word);
    std::int32_t id = found == word_ids_.end() ? -1 : found->second;
    if (id >= 0) columns.push_back(word_columns_[static_cast<std::size_t>(id)]);
    if (id >= 0 && before >= 0 && options_.longest_ngram == 2) columns.push_back(pair_column(before, id));
    before = id;
  }
  std::sort(columns.begin(), columns.end());
  counts.clear();
  for (std::int32_t column : columns) {
    if (column < 0) continue;
    if (!counts.empty() && counts.back().column == column)
      ++counts.back().count;
    else
      counts.push_back({column, 1});
  }
}

SparseRows TfidfVectorizer::transform(std::span<const std::string_view> texts) const {
  std::vector<std::vector<TermCount>> rows(texts.size());
  parallel(static_cast<std::int64_t>(texts.size()), 64, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      count_terms(texts[i], rows[i]);
  });
  SparseRows out;
  out.width = terms();
  out.offsets.push_back(0);
  for (std::vector<TermCount>& row : rows) {
    double squares = 0;
    std::size_t begin = out.values.size();
    for (const TermCount& term : row) {
      double tf =
          options_.sublinear_tf ? 1.0 + std::log(static_cast<double>(term.count)) : static_cast<double>(term.count);
      double value = tf * idf_[static_cast<std::size_t>(term.column)];
      squares += value * value;
      out.columns.push_back(term.column);
      out.values.push_back(value);
    }
    for (std::size_t i = begin; i < out.values.size(); ++i) out.values[i] /= std::sqrt(squares);
    out.offsets.push_back(static_cast<std::int64_t>(out.values.size()));
    std::vector<TermCount>().swap(row);
  }
  return out;
}

}  // namespace attune
