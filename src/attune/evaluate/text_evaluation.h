#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attune/base/file.h"
#include "attune/base/json.h"
#include "attune/evaluate/bleu.h"
#include "attune/evaluate/chrf.h"
#include "attune/evaluate/rouge.h"
#include "attune/evaluate/span_scores.h"

namespace attune::evaluate {

/// A metric of what a system wrote, from files.
struct TextEvaluation {
  std::string metric = {};  // one of text_metrics()
  Path predictions = {};
  std::vector<Path> references = {};                        // several files: as many references of each text
  std::string prediction_field = {}, reference_field = {};  // empty: the usual ones (evaluate/scored_records.h)
  BleuOptions bleu = {};
  ChrfOptions chrf = {};
  RougeOptions rouge = {};
  TagReading tags = TagReading::lenient;
  double no_answer_threshold = 1;
  std::vector<std::int64_t> cutoffs = {1, 5, 10};
  bool each = false;  // figures of each item, too
  BootstrapOptions bootstrap = {};
};

struct TextFigure {
  std::string name;
  Interval value = {};
  bool interval = true;  // else `value.value` stands alone
};

struct TextEvaluationResult {
  std::int64_t items = 0;
  std::string unit;  // what they are: "texts", "questions", "queries"
  std::vector<TextFigure> figures = {};
  std::string signature = {};  // of the metrics that have one
  struct Item {
    std::string id;  // JSON text
    std::vector<TextFigure> figures;
  };
  std::vector<Item> each = {};

  std::string table(const std::string& metric) const;  // for people
  Json record(const std::string& metric) const;        // one JSON line, without `each`
};

/// "bleu", "chrf", "chrf++", "rouge", "spans", "squad", "squad-v2", "ranking", "wer", "cer", "diversity".
const std::vector<std::string>& text_metrics();

/// Reads the files and measures. Throws Error that names the file, line and field at fault, or a metric that there is
/// not.
TextEvaluationResult evaluate_texts(const TextEvaluation& asked);

}  // namespace attune::evaluate
