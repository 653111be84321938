#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attune/base/file.h"
#include "attune/base/json.h"
#include "attune/evaluate/answer_scores.h"
#include "attune/evaluate/ranking.h"
#include "attune/evaluate/span_scores.h"

namespace attune::evaluate {

/// One line of a file of predictions or of references.
struct ScoredRecord {
  std::string id;     // JSON text of its member "id", else its number
  JsonValue value;    // the object; of a .txt file {"text": line}
  std::string place;  // "FILE, line N", for messages
};

struct ScoredRecords {
  std::string source;
  std::vector<ScoredRecord> items;
  bool ids = false;  // each record has an id of its own
};

/// Reads JSON lines (blank ones are passed over), or a .txt file, of which each line is a text, be it empty. Throws
/// Error that names file and line: not UTF-8, not one JSON object, some records with an id and some without, an id
/// twice, a file without records.
ScoredRecords read_scored(const Path& path);
/// One line of JSON; `place` names it.
ScoredRecord parse_scored(std::string_view line, std::int64_t number, const std::string& place);

/// For each of `first` the number in `second` of what belongs to it: by id where both have ids, else by their order.
/// Throws Error where one has what the other has not.
std::vector<std::size_t> match(const ScoredRecords& first, const ScoredRecords& second);

/// What the metrics need of a record; `field` empty: the usual ones. Throw Error that names the record and the field.
std::string text_in(const ScoredRecord& record, const std::string& field);
/// A string, or a list of them. Usual: "references", "target", "text", the first that is there.
std::vector<std::string> references_in(const ScoredRecord& record, const std::string& field);
/// "tags": a list of strings; or "entities": a list of {"start", "end", "label"}.
std::vector<TypedSpan> spans_in(const ScoredRecord& record, const std::string& field, TagReading reading);
/// Right answers: "answers", a list of strings, of {"text": ...}, or {"text": [...]} as data sets have it; null: none.
std::vector<std::string> answers_in(const ScoredRecord& record, const std::string& field);
/// "scores", {document: score}, or "ranking", a list of documents, the best first.
std::vector<std::pair<std::string, double>> scores_in(const ScoredRecord& record, const std::string& field);
/// "relevant": a list of documents (grade 1) or {document: grade}.
std::map<std::string, std::int64_t> grades_in(const ScoredRecord& record, const std::string& field);
std::optional<double> probability_in(const ScoredRecord& record, const std::string& field);

}  // namespace attune::evaluate
