#include "attune/data/documents.h"

#include <fcntl.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>
#include "attune/base/json_values.h"

#include "attune/base/blank_lines.h"
#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/base/log.h"
#include "attune/data/record.h"
#include "attune/data/table.h"

namespace attune {

namespace {

/// Reads JSON lines with simdjson, which wants some bytes behind the text that it may look at.
class JsonLines {
 public:
  Document parse(std::string_view json, std::int64_t line, const DocumentFormat& format) {
    if (buffer_.size() < json.size() + simdjson::SIMDJSON_PADDING)
      buffer_.resize(std::max(2 * buffer_.size(), json.size() + simdjson::SIMDJSON_PADDING));
    std::memcpy(buffer_.data(), json.data(), json.size());
    raw_.clear();
    take_raw_values(buffer_.data(), json);
    simdjson::dom::element root;
    auto error = parser_.parse(buffer_.data(), json.size(), false).get(root);
    if (error) refuse(json, simdjson::error_message(error));
    simdjson::dom::object object;
    check(!root.get(object), "it is not a JSON object: expected one object a line, such as {{\"text\": \"...\"}}");
    RecordBuilder record(line, format);
    std::size_t raw_used = 0;
    for (auto member : object) add(record, member.key, member.value, raw_used);
    return record.take();
  }

 private:
  /// Keeps every number, array and object of the outermost object as it was written, and puts 0 in the place of each
  /// number in `copy`: the parser would round numbers and refuse long ones. What is no number stays for it to refuse.
  void take_raw_values(char* copy, std::string_view json) {
    std::size_t depth = 0, nested = 0;
    for (std::size_t i = 0; i < json.size(); ++i) {
      const char c = json[i];
      if (c == '"') {
        for (++i; i < json.size() && json[i] != '"'; ++i)
          if (json[i] == '\\') ++i;
      } else if (c == '{' || c == '[') {
        if (++depth == 2) nested = i;
      } else if ((c == '}' || c == ']') && depth > 0) {
        if (depth-- == 2) raw_.push_back(json.substr(nested, i + 1 - nested));
      } else if (c == '-' || (c >= '0' && c <= '9')) {
        const std::size_t end = std::min(json.find_first_not_of("0123456789+-.eE", i), json.size());
        const std::string_view number = json.substr(i, end - i);
        if (depth == 1) raw_.push_back(number);
        if (is_number(number)) {
          std::memset(copy + i, ' ', number.size());
          copy[i] = '0';
        }
        i = end - 1;
      }
    }
  }

  /// RFC 8259: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
  static bool is_number(std::string_view text) {
    std::size_t i = text.starts_with('-') ? 1 : 0;
    auto digits = [&] {
      const std::size_t begin = i;
      while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
      return i - begin;
    };
    const bool zero = i < text.size() && text[i] == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (i < text.size() && text[i] == '.') {
      ++i;
      if (digits() == 0) return false;
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
      ++i;
      if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
      if (digits() == 0) return false;
    }
    return i == text.size();
  }

  /// Without the spaces between values.
  static std::string compact(std::string_view json) {
    std::string out;
    bool quoted = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
      const char c = json[i];
      if (!quoted && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) continue;
      out += c;
      if (c == '"') quoted = !quoted;
      if (quoted && c == '\\') out += json[++i];
    }
    return out;
  }

  void add(RecordBuilder& record, std::string_view name, simdjson::dom::element value, std::size_t& raw_used) const {
    using Kind = RecordBuilder::Kind;
    switch (value.type()) {
      case simdjson::dom::element_type::STRING: {
        std::string_view text = value.get_string().value_unsafe();
        return record.add(name, std::string(text), Kind::string);
      }
      case simdjson::dom::element_type::NULL_VALUE:
        return record.add(name, "", Kind::null);
      case simdjson::dom::element_type::ARRAY:
      case simdjson::dom::element_type::OBJECT:
        return record.add(name, compact(raw_.at(raw_used++)), Kind::nested);
      case simdjson::dom::element_type::BOOL:
        return record.add(name, value.get_bool().value_unsafe() ? "true" : "false", Kind::literal);
      default:
        return record.add(name, std::string(raw_.at(raw_used++)), Kind::literal);
    }
  }

  /// The slower parser says in which column; simdjson says only what.
  [[noreturn]] static void refuse(std::string_view json, const char* what) {
    check_plain_text(json);
    try {
      parse_json(json, "not JSON");
    } catch (const Error& error) {
      std::string message = error.what();
      if (auto first_line = message.find(": line 1, "); first_line != std::string::npos)
        message.erase(first_line + 2, std::strlen("line 1, "));
      throw Error(message);
    }
    fail("not JSON: {}", what);
  }

  simdjson::dom::parser parser_;
  std::string buffer_;
  std::vector<std::string_view> raw_;  // of the line at hand
};

bool blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

/// Hands good documents on; lists or throws the others.
class Taker {
 public:
  Taker(std::string source, const DocumentFormat& format, const std::function<void(Document&&)>& take)
      : source_(std::move(source)), format_(format), take_(take) {}

  template <class Parse>
  void record(std::int64_t line, Parse&& parse) {
    std::optional<Document> document;
    try {
      document = parse();
    } catch (const Error& error) {
      if (!format_.skip_bad) fail("reading {}, line {}: {}", source_, line, error.what());
      skipped_.push_back({line, error.what()});
      return;
    }
    ++taken_;
    note(*document);
    take_(std::move(*document));
  }

  void header() { header_ = true; }
  void blank(std::int64_t line) { blanks_.add(line); }

  std::vector<BadLine> finish() {
    check(taken_ > 0 || !skipped_.empty() || !header_,
          "reading {}: it holds a line of names and no record: add a line for each document", source_);
    check(taken_ > 0 || !skipped_.empty(), "reading {}: it is empty: there is no record in it", source_);
    if (taken_ == 0)
      fail("reading {}: none of its {} records can be used; line {}: {}", source_, skipped_.size(), skipped_[0].line,
           skipped_[0].why);
    check_named(format_.label_field, DocumentFormat{}.label_field, labels_given_, "--label-field");
    check_named(format_.id_field, DocumentFormat{}.id_field, ids_given_, "--id-field");
    if (repeated_ > 0) log_warning(fmt::format("{}: {}", source_, repetition_));
    if (repeated_ > 1) log_warning(fmt::format("  {} more repeat an id, too", repeated_ - 1));
    blanks_.tell(source_);
    return std::move(skipped_);
  }

  const std::string& source() const { return source_; }

 private:
  void note(const Document& document) {
    ids_given_ = ids_given_ || document.id_given;
    labels_given_ = labels_given_ || document.label_given;
    for (const auto& [name, value] : document.fields)
      if (names_.size() < 100) names_.insert(name);
    auto [first, fresh] = lines_.emplace(document.id, document.line);
    if (fresh || repeated_++ > 0) return;
    repetition_ = fmt::format(
        "lines {} and {} have the same id {}: their answers cannot be told apart by it: give each document its own "
        "(a line without an id has its number as one)",
        first->second, document.line, json_quoted(document.id));
  }

  /// A field that somebody named must be there.
  void check_named(const std::string& field, const std::string& usual, bool given, const char* option) const {
    if (given || field == usual) return;
    std::string near = nearest_name(field, names_);
    fail("reading {}: no record has the field {} ({}){}", source_, json_quoted(field), option,
         near.empty() ? ": name one that the records have" : ": did you mean " + json_quoted(near) + "?");
  }

  std::set<std::string> names_;
  std::unordered_map<std::string, std::int64_t> lines_;  // the first of each id
  std::int64_t repeated_ = 0;
  std::string repetition_;  // the first
  bool ids_given_ = false, labels_given_ = false, header_ = false;
  std::string source_;
  const DocumentFormat& format_;
  const std::function<void(Document&&)>& take_;
  std::vector<BadLine> skipped_;
  BlankLines blanks_;
  std::int64_t taken_ = 0;
};

void read_json_lines(const Path& path, const DocumentFormat& format, Taker& taker) {
  JsonLines lines;
  for_each_line(
      path,
      [&](std::int64_t number, std::string_view line) {
        if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
        if (blank(line)) return taker.blank(number);
        taker.record(number, [&] { return lines.parse(line, number, format); });
      },
      format.longest_line);
}

void read_text_lines(const Path& path, const DocumentFormat& format, Taker& taker) {
  for_each_line(
      path,
      [&](std::int64_t number, std::string_view line) {
        if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
        if (blank(line)) return taker.blank(number);
        taker.record(number, [&] {
          check_plain_text(line);
          RecordBuilder record(number, format);
          record.add(format.text_field, std::string(line), RecordBuilder::Kind::string);
          return record.take();
        });
      },
      format.longest_line);
}

void read_table(const Path& path, const DocumentFormat& format, Taker& taker, TableForm form) {
  std::vector<std::string> names;
  auto take = [&](TableRecord&& row) {
    if (names.empty()) {
      within(fmt::format("reading {}, line {}", taker.source(), row.line), [&] { names = table_names(row); });
      taker.header();
      return;
    }
    taker.record(row.line, [&] {
      check(row.fault.empty(), "{}", row.fault);
      check(row.cells.size() == names.size(), "it has {} values, but the first line names {}", row.cells.size(),
            names.size());
      RecordBuilder record(row.line, format);
      for (std::size_t i = 0; i < names.size(); ++i) {
        // A table has no null: an empty cell is an absent value, except for text, which is said to be empty.
        bool absent = row.cells[i].empty() && names[i] != format.text_field;
        record.add(names[i], std::move(row.cells[i]), absent ? RecordBuilder::Kind::null : RecordBuilder::Kind::string);
      }
      return record.take();
    });
  };
  for_each_table_record(path, form, format.longest_line, take, [&](std::int64_t line) { taker.blank(line); });
}

}  // namespace

std::vector<BadLine> for_each_document(const Path& path, const DocumentFormat& format,
                                       const std::function<void(Document&&)>& take) {
  bool standard_input = path == "-";
  Taker taker(standard_input ? "standard input" : path.string(), format, take);
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (standard_input) {
    check(::fcntl(STDIN_FILENO, F_GETFD) >= 0,
          "reading standard input: it is closed: pipe the records in, or name their file");
    read_json_lines("/dev/stdin", format, taker);
  } else if (ending == ".csv")
    read_table(path, format, taker, TableForm::csv);
  else if (ending == ".tsv")
    read_table(path, format, taker, TableForm::tsv);
  else if (ending == ".txt")
    read_text_lines(path, format, taker);
  else
    read_json_lines(path, format, taker);
  return taker.finish();
}

Documents read_documents(const Path& path, const DocumentFormat& format) {
  Documents documents;
  documents.source = path.string();
  documents.skipped =
      for_each_document(path, format, [&](Document&& one) { documents.items.push_back(std::move(one)); });
  return documents;
}

Document parse_document(std::string_view json, std::int64_t line, const DocumentFormat& format) {
  return JsonLines().parse(json, line, format);
}

std::string id_as_json(const Document& document, const DocumentFormat& format) {
  bool literal = std::ranges::find(document.literals, format.id_field) != document.literals.end();
  return literal ? document.id : json_quoted(document.id);
}

std::string to_json_line(const Document& document, const DocumentFormat& format) {
  std::string out = "{";
  auto member = [&](const std::string& name, const std::string& value) {
    bool literal = std::ranges::find(document.literals, name) != document.literals.end();
    if (out.size() > 1) out += ", ";
    out += json_quoted(name) + ": " + (literal ? value : json_quoted(value));
  };
  if (!document.id.empty()) member(format.id_field, document.id);
  member(format.text_field, document.text);
  if (document.label)
    member(format.label_field, *document.label);
  else if (format.labels != Labels::optional)
    out += ", " + json_quoted(format.label_field) + ": null";
  for (const auto& [name, value] : document.fields) member(name, value);
  return out + "}";
}

void write_documents(const Path& path, std::span<const Document> documents, const DocumentFormat& format) {
  AtomicFile file(path);
  for (const Document& one : documents) {
    file.write(to_json_line(one, format));
    file.write("\n");
  }
  file.commit();
}

}  // namespace attune
