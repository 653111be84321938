#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attune::evaluate {

/// One row of numbers a document: logits or probabilities [documents, classes], or embeddings [documents, width].
struct ScoreTable {
  std::vector<double> values;  // [rows, width], row after row
  std::int64_t width = 0;

  std::int64_t rows() const { return width ? static_cast<std::int64_t>(values.size()) / width : 0; }
  std::span<const double> row(std::int64_t i) const {
    return std::span(values).subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width));
  }
  void add_row(std::span<const double> row);  // throws Error if its width differs from the rows before
};

/// Throws Error, naming `what` and the row, unless every value is finite and the values fill whole rows.
void check_finite(const ScoreTable& table, const std::string& what);

/// Throws Error, naming the document, unless there is one truth a row and each is a class, 0 to width - 1. Documents of
/// no category have no class: leave them out of what needs one.
void check_truth(const ScoreTable& table, std::span<const int> truth, const std::string& what);

/// softmax(logits / temperature), a row at a time.
ScoreTable softmax(const ScoreTable& logits, double temperature = 1);

/// The class of the highest value of each row; of equal ones the lowest class.
std::vector<int> top_class(const ScoreTable& scores);
/// The highest value of each row: the confidence, where rows are probabilities.
std::vector<double> top_score(const ScoreTable& scores);

}  // namespace attune::evaluate
