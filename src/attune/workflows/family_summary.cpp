#include "attune/workflows/family_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/report/line_plot.h"
#include "attune/report/numbers.h"
#include "attune/report/style.h"

namespace attune::workflows {

namespace {

struct Share {
  double sum = 0, cells = 0;
  void add(double value) { sum += value, ++cells; }
  std::string text() const { return cells > 0 ? report::percent(sum / cells, 0) : "-"; }
};

struct FamilyRow {
  std::string name, paper;
  bool causal = true;
  std::string ms_growth = "-", bytes_growth = "-";                         // exponents
  std::map<std::int64_t, double> ms = {};                                  // by length, forward and backward
  std::map<std::int64_t, double> perplexity = {};                          // by length
  Share needle_near = {}, needle_far = {}, copy_near = {}, copy_far = {};  // up to the trained length

  bool probed() const { return !perplexity.empty(); }
};

void for_each_line(const Path& path, const std::function<void(const Json&)>& take) {
  const std::string text = read_file(path);
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string source = fmt::format("{}, line {}", path.string(), line);
    if (end > begin)
      within(source, [&] {
        const Json value = parse_json(std::string_view(text).substr(begin, end - begin), "it");
        within("it is not one of these results", [&] { take(value); });
      });
    begin = end + 1;
  }
}

std::string exponent_text(const Json& e) {
  return fmt::format("{:.2f} ± {:.2f}", e.at(0).get<double>(), (e.at(2).get<double>() - e.at(1).get<double>()) / 2);
}

std::vector<FamilyRow> rows_of(const Path& costs) {
  std::vector<FamilyRow> rows;
  for_each_line(costs, [&](const Json& line) {
    const auto name = line.at("family").get<std::string>();
    auto row = std::ranges::find(rows, name, &FamilyRow::name);
    if (row == rows.end()) row = rows.insert(rows.end(), FamilyRow{.name = name, .paper = ""});
    row->causal = line.at("causal").get<bool>();
    if (line.contains("paper")) row->paper = line["paper"].get<std::string>();
    if (line.at("pass") != "both") return;
    if (line.contains("ms")) row->ms[line.at("tokens").get<std::int64_t>()] = line["ms"].get<double>();
    if (!line.contains("fit")) return;
    row->ms_growth = exponent_text(line.at("ms_exponent"));
    if (line.contains("bytes_exponent")) row->bytes_growth = exponent_text(line["bytes_exponent"]);
  });
  check(!rows.empty(), "{} holds no costs: make it with attune bench attention --families all --fit --json",
        costs.string());
  return rows;
}

/// The longest that all families were timed at; none where there is none.
std::optional<std::int64_t> common_length(const std::vector<FamilyRow>& rows) {
  std::optional<std::int64_t> longest;
  for (auto [tokens, ms] : rows.front().ms)
    if (std::ranges::all_of(rows, [tokens = tokens](const FamilyRow& row) { return row.ms.contains(tokens); }))
      longest = tokens;
  return longest;
}

void add_results(const Path& path, FamilyRow& row) {
  std::int64_t trained = 0;
  for_each_line(path, [&](const Json& line) {
    const auto probe = line.at("probe").get<std::string>();
    const auto length = line.at("length").get<std::int64_t>();
    if (line.contains("skipped")) return;
    if (probe == "perplexity") {
      row.perplexity[length] = line.at("perplexity").get<double>();
      trained = row.perplexity.begin()->first;
    } else {
      if (length > trained) return;
      const bool near = line.at("depth").get<double>() == 1;
      (probe == "needle" ? (near ? row.needle_near : row.needle_far) : (near ? row.copy_near : row.copy_far))
          .add(line.at("accuracy").get<double>());
    }
  });
}

std::string table_of(const std::vector<FamilyRow>& rows, const std::vector<std::int64_t>& lengths) {
  const auto common = common_length(rows);
  std::string table = "| family | paper |", rule = "|---|---|";
  if (common) table += fmt::format(" ms for {} tokens |", report::with_thousands(*common)), rule += "---|";
  table += " time grows as | memory grows as |", rule += "---|---|";
  for (std::int64_t length : lengths) table += fmt::format(" perplexity at {} |", length), rule += "---|";
  table += " needle just before | needle further back | copy just before | copy further back |\n";
  table += rule + "---|---|---|---|\n";
  for (const FamilyRow& row : rows) {
    table += fmt::format("| `{}`{} | {} |", row.name, row.causal ? "" : " (masked)", row.paper);
    if (common) table += fmt::format(" {:.0f} |", row.ms.at(*common));
    table += fmt::format(" {} | {} |", row.ms_growth, row.bytes_growth);
    for (std::int64_t length : lengths) {
      auto found = row.perplexity.find(length);
      const std::string missing = row.probed() ? "none" : "-";  // a length it does not take, or not trained yet
      table += " " + (found == row.perplexity.end() ? missing : fmt::format("{:.1f}", found->second)) + " |";
    }
    table += fmt::format(" {} | {} | {} | {} |\n", row.needle_near.text(), row.needle_far.text(), row.copy_near.text(),
                         row.copy_far.text());
  }
  return table;
}

std::string plot_of(const std::vector<FamilyRow>& rows) {
  report::LinePlot plot{.title = "Perplexity of the same tokens, read in sequences of each length",
                        .x_label = "tokens in a sequence",
                        .y_label = "perplexity",
                        .series = {}};
  plot.logarithmic_y = true, plot.width = 820, plot.height = 460;
  plot.description = "One line a causal family; the shortest length is the one that the models were trained at.";
  for (const FamilyRow& row : rows) {
    if (!row.causal || !row.probed()) continue;
    report::LineSeries series{.name = row.name, .points = {}};
    for (auto [length, perplexity] : row.perplexity) series.points.push_back({static_cast<double>(length), perplexity});
    plot.series.push_back(std::move(series));
  }
  return plot.series.empty() ? "" : report::standalone_svg(plot.svg());
}

}  // namespace

FamilySummary summarise_families(const Path& costs, const Path& results) {
  std::vector<FamilyRow> rows = rows_of(costs);
  std::vector<std::int64_t> lengths;
  for (FamilyRow& row : rows) {
    const Path path = results / (row.name + ".jsonl");
    if (std::filesystem::exists(path)) add_results(path, row);
    for (auto [length, perplexity] : row.perplexity)
      if (std::ranges::find(lengths, length) == lengths.end()) lengths.push_back(length);
  }
  std::ranges::sort(lengths);
  std::ranges::stable_sort(rows, [](const FamilyRow& a, const FamilyRow& b) {
    auto key = [](const FamilyRow& row) {
      return std::pair(row.causal && row.probed() ? 0
                       : row.probed()             ? 1
                                                  : 2,
                       row.probed() ? row.perplexity.begin()->second : 0.0);
    };
    return key(a) < key(b);
  });
  return {table_of(rows, lengths), plot_of(rows)};
}

}  // namespace attune::workflows
