#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attune {

/// A sparse matrix by rows: row r holds columns[offsets[r]..offsets[r+1]), ascending, with their values.
struct SparseRows {
  std::int64_t width = 0;             // number of columns
  std::vector<std::int64_t> offsets;  // [rows + 1]
  std::vector<std::int32_t> columns;  // [non-zeros]
  std::vector<double> values;         // [non-zeros]
  std::int64_t rows() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

/// The same matrix by columns: its transpose by rows, each row's columns ascending.
SparseRows transposed(const SparseRows& matrix);

struct TfidfOptions {
  int longest_ngram = 2;     // words in a term, 1 or 2
  int least_documents = 2;   // a term in fewer training documents is left out
  bool sublinear_tf = true;  // 1 + ln(count) instead of the count
};

/// Terms of one and two words weighted by how often a document has them and how few documents do, each row of length 1:
/// what scikit-learn's TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True) computes, with smooth idf ln((1
/// + documents) / (1 + documents with the term)) + 1. Columns are in the order of the terms, byte by byte.
class TfidfVectorizer {
 public:
  /// Learns the terms and their weights. Throws Error where no term is left.
  static TfidfVectorizer fit(std::span<const std::string_view> texts, const TfidfOptions& options = {});
  /// [texts, terms]; a text without a known term is an empty row.
  SparseRows transform(std::span<const std::string_view> texts) const;

  std::int64_t terms() const { return static_cast<std::int64_t>(idf_.size()); }
  /// The column of a term, or -1; two words with one space between them.
  std::int64_t column(const std::string& term) const;
  double idf(std::int64_t column) const { return idf_[static_cast<std::size_t>(column)]; }

 private:
  struct TermCount;
  void count_terms(std::string_view text, std::vector<TermCount>& counts) const;
  std::int32_t pair_column(std::int32_t first, std::int32_t second) const;

  TfidfOptions options_;
  std::unordered_map<std::string, std::int32_t> word_ids_;        // words that stand in some term
  std::vector<std::int32_t> word_columns_;                        // [words] -> column, or -1
  std::unordered_map<std::uint64_t, std::int32_t> pair_columns_;  // first word's id * 2^32 + second's -> column
  std::vector<double> idf_;                                       // [terms]
};

}  // namespace attune
