#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attune/base/file.h"

namespace attune {

/// csv: RFC 4180: commas, values may be quoted and then hold commas, doubled quotes and line ends. tsv: tabs, nothing
/// is quoted (IANA text/tab-separated-values).
enum class TableForm { csv, tsv };

struct TableRecord {
  std::int64_t line = 0;  // where it begins, from 1
  std::vector<std::string> cells;
  std::string fault;  // why it cannot be used; empty for a good one
};

/// Calls `take` for every record, the line of names included, and `blank` for every blank line, which is passed over.
/// Throws Error where a line, or a quoted record of several lines, is longer than `longest` bytes.
void for_each_table_record(const Path& path, TableForm form, std::size_t longest,
                           const std::function<void(TableRecord&&)>& take,
                           const std::function<void(std::int64_t line)>& blank);

/// The names in the first record. Throws Error on a fault, an empty name or a name given twice.
std::vector<std::string> table_names(const TableRecord& first);

}  // namespace attune
