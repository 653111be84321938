#pragma once

#include <string>
#include <vector>

namespace attune::report {

enum class Align { left, right };

struct Column {
  std::string name;
  Align align = Align::right;
};

/// A table for people: on a terminal by text(), in a page by report::table (report/page.h). Every row has one cell for
/// each column; anything else is an Error. `emphasis` names rows (from 0) to be set off: bold in a page.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> emphasis = {};
  std::string caption = "";  // above the table; may be empty

  /// Columns aligned by display width, two spaces between, a rule under the names; ends with a line end, no spaces at
  /// line ends.
  std::string text() const;
  /// Throws Error if a row has another number of cells than there are columns.
  void check_shape() const;
};

}  // namespace attune::report
