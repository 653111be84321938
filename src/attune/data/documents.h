#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/file.h"

namespace attune {

/// One record of a data file.
struct Document {
  std::string id;                             // of its id field, else its line number
  std::string text;                           // UTF-8 without NUL
  std::optional<std::string> label;           // none: a document of no category, or a file without labels
  std::map<std::string, std::string> fields;  // everything else: patient, source, template, ...; null counts as absent
  /// Names (of id, label, a field or a nested text) whose value was a number, true, false, an array or an object: kept
  /// as the JSON text that was written (1e5, 1.10, any number of digits) and written back without quotes.
  std::vector<std::string> literals;
  std::int64_t line = 0;                       // in the file, from 1
  bool id_given = false, label_given = false;  // whether the record has the member at all, be it null
};

/// What a reader asks of labels.
enum class Labels {
  optional,  // absent or null is no label
  nullable,  // the member must be there; null is a document of no category
  required,  // every record has one
};

struct DocumentFormat {
  std::string text_field = "text";
  std::string label_field = "label";
  std::string id_field = "id";
  Labels labels = Labels::optional;
  bool empty_text = false;   // an empty or blank text is an Error unless it is allowed
  bool nested_text = false;  // it may also be an array or an object, and is then its JSON text
  bool skip_bad = false;     // a bad line is listed and left out instead of being an Error
  std::size_t longest_line = std::size_t{64} << 20;
};

struct BadLine {
  std::int64_t line;
  std::string why;
};

struct Documents {
  std::vector<Document> items;
  std::vector<BadLine> skipped;  // with skip_bad
  std::string source;            // the file's name, for messages and manifests
};

/// Reads a whole data file by its ending: .csv and .tsv (a line of names first, then a record a line; in CSV quoted
/// values may hold line ends, RFC 4180), .txt (one text a line), anything else and "-" (standard input) as JSON lines:
/// one object a line. Blank lines are passed over, which is one warning in the log. Throws Error, with the file and the
/// line, on: a file that is missing, unreadable or without records; bytes that are not UTF-8 (with their place); NUL; a
/// line longer than longest_line (never held in memory whole); a line that is not one JSON object; a record without
/// text, or without a label where one is asked for; a member given twice; text or label of a wrong type; a label_field
/// or id_field other than the usual one that no record has. Documents of the same id are a warning in the log.
Documents read_documents(const Path& path, const DocumentFormat& format = {});

/// The same, one document at a time: for files larger than memory. Returns the lines left out.
std::vector<BadLine> for_each_document(const Path& path, const DocumentFormat& format,
                                       const std::function<void(Document&&)>& take);

/// One JSON line. Throws Error that does not name the line.
Document parse_document(std::string_view json, std::int64_t line, const DocumentFormat& format = {});

/// The document as one JSON line without its end: id, text, label (null if none and `label_field` is not empty), then
/// the fields.
std::string to_json_line(const Document& document, const DocumentFormat& format = {});

/// The id as JSON text: as it was written, in quotes unless it was a number.
std::string id_as_json(const Document& document, const DocumentFormat& format = {});

/// Writes JSON lines, whole or not at all.
void write_documents(const Path& path, std::span<const Document> documents, const DocumentFormat& format = {});

}  // namespace attune
