#include "attune/report/text_table.h"

#include <algorithm>

#include "attune/base/error.h"
#include "attune/report/text.h"

namespace attune::report {

void Table::check_shape() const {
  for (std::size_t i = 0; i < rows.size(); ++i)
    check(rows[i].size() == columns.size(), "making a table: row {} has {} cells for {} columns", i, rows[i].size(),
          columns.size());
}

std::string Table::text() const {
  check_shape();
  std::vector<std::int64_t> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::int64_t width = display_width(on_one_line(columns[c].name));
    for (const auto& row : rows) width = std::max(width, display_width(on_one_line(row[c])));
    widths.push_back(width);
  }
  std::string out = caption.empty() ? "" : caption + "\n";
  auto line = [&](auto&& cell) {
    std::string text;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string value = on_one_line(cell(c));
      const std::string space(static_cast<std::size_t>(widths[c] - display_width(value)), ' ');
      text += (c ? "  " : "") + (columns[c].align == Align::left ? value + space : space + value);
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  };
  line([&](std::size_t c) { return columns[c].name; });
  line([&](std::size_t c) {
    std::string rule;
    for (std::int64_t i = 0; i < widths[c]; ++i) rule += "─";
    return rule;
  });
  for (const auto& row : rows) line([&](std::size_t c) { return row[c]; });
  return out;
}

}  // namespace attune::report
