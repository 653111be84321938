#include "attune/data/table.h"

#include <set>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/data/record.h"

namespace attune {

namespace {

/// Takes a record's lines one by one: a quoted value goes over their ends.
class CsvReader {
 public:
  /// True when the record is whole.
  bool take(std::int64_t number, std::string_view line) {
    if (state_ == State::inside)
      cell_ += '\n';
    else
      begin(number);
    for (char c : line) take(c);
    if (state_ == State::inside) return false;
    end_cell();
    return true;
  }

  bool open() const { return state_ == State::inside; }
  std::int64_t began() const { return record_.line; }
  std::size_t size() const { return size_ + cell_.size(); }
  void fault(const std::string& why) {
    if (record_.fault.empty()) record_.fault = why;
  }
  TableRecord give() {
    state_ = State::start;
    return std::move(record_);
  }

 private:
  enum class State { start, plain, inside, closed };  // closed: behind a quote inside a quoted value

  void begin(std::int64_t number) {
    record_ = {};
    record_.line = number;
    size_ = 0;
    cell_.clear();
    state_ = State::start;
  }

  void end_cell() {
    size_ += cell_.size();
    record_.cells.push_back(std::move(cell_));
    cell_.clear();
    state_ = State::start;
  }

  void take(char c) {
    switch (state_) {
      case State::inside:
        if (c == '"')
          state_ = State::closed;
        else
          cell_ += c;
        return;
      case State::closed:
        if (c == '"') {
          cell_ += '"';
          state_ = State::inside;
          return;
        }
        if (c != ',') fault("a quoted value is followed by something else than a comma: quotes inside it are doubled");
        break;
      case State::start:
        if (c == '"') {
          state_ = State::inside;
          return;
        }
        break;
      case State::plain:
        break;
    }
    if (c == ',') return end_cell();
    cell_ += c;
    state_ = State::plain;
  }

  State state_ = State::start;
  TableRecord record_;
  std::string cell_;
  std::size_t size_ = 0;
};

std::vector<std::string> split_at_tabs(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0;;) {
    std::size_t tab = line.find('\t', begin);
    cells.emplace_back(line.substr(begin, tab - begin));
    if (tab == std::string_view::npos) return cells;
    begin = tab + 1;
  }
}

/// Why the line is not text, or nothing.
std::string text_fault(std::string_view line) {
  try {
    check_plain_text(line);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

void for_each_table_record(const Path& path, TableForm form, std::size_t longest,
                           const std::function<void(TableRecord&&)>& take,
                           const std::function<void(std::int64_t line)>& blank) {
  CsvReader csv;
  for_each_line(
      path,
      [&](std::int64_t number, std::string_view line) {
        if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
        if (line.empty() && !csv.open()) return blank(number);
        std::string fault = text_fault(line);
        if (form == TableForm::tsv) return take({number, split_at_tabs(line), fault});
        bool whole = csv.take(number, line);
        if (!fault.empty()) csv.fault(fault);
        if (whole) return take(csv.give());
        check(csv.size() <= longest,
              "reading {}, line {}: a quoted value goes on for more than {} bytes: is a quote missing?", path.string(),
              csv.began(), longest);
      },
      longest);
  if (csv.open()) {
    csv.fault("a quoted value does not end before the file does");
    take(csv.give());
  }
}

std::vector<std::string> table_names(const TableRecord& first) {
  check(first.fault.empty(), "{}", first.fault);
  std::set<std::string> seen;
  for (const std::string& name : first.cells) {
    check(!name.empty(), "the first line must name every column: one name is empty");
    check(seen.insert(name).second, "the column {} is named twice", json_quoted(name));
  }
  return first.cells;
}

}  // namespace attune
