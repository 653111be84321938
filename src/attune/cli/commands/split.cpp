#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/data/split_files.h"
#include "attune/report/text_table.h"

namespace attune {

namespace {

struct SplitArguments {
  std::string data, output;
  std::vector<std::string> group, hold_out, fractions = {"0.7", "0.1", "0.2"};
  std::optional<std::string> stratify;
  DocumentFormat format;
  SplitOptions options;
};

std::array<double, 3> fractions_of(const std::vector<std::string>& given) {
  check_usage(given.size() == 3, "--fractions: {} numbers: give three, of training, validation and test: 0.7,0.1,0.2",
              given.size());
  std::array<double, 3> fractions{};
  for (std::size_t i = 0; i < 3; ++i) {
    char* end = nullptr;
    fractions[i] = std::strtod(given[i].c_str(), &end);
    check_usage(!given[i].empty() && *end == '\0', "--fractions: \"{}\" is not a number: give three, as in 0.7,0.1,0.2",
                given[i]);
  }
  return fractions;
}

void print_parts(const Documents& documents, const Split& split) {
  std::map<std::string, std::map<Part, std::int64_t>> labels;
  report::Table table{.columns = {{"part", report::Align::left}, {"documents"}}, .rows = {}};
  for (std::size_t i = 0; i < documents.items.size(); ++i)
    ++labels[documents.items[i].label.value_or("(no label)")][split.parts[i]];
  bool few = labels.size() <= 8;
  if (few)
    for (const auto& [label, counts] : labels) table.columns.push_back({label});
  for (Part part : written_parts) {
    auto members = split.of(part);
    if (members.empty()) continue;
    std::vector<std::string> row = {std::string(name_of(part)), std::to_string(members.size())};
    if (few)
      for (auto& [label, counts] : labels) row.push_back(std::to_string(counts[part]));
    table.rows.push_back(std::move(row));
  }
  fmt::print("{}", table.text());
}

void print_facts(const Split& split) {
  fmt::print("\n{} groups; {} pairs of duplicates kept together\n", split.groups, split.duplicate_pairs);
  for (const auto& [field, values] : split.held_out)
    fmt::print("held out for the unfamiliar part: {} {}\n", field, fmt::join(values, ", "));
  std::map<std::string, std::int64_t> dropped;
  for (const Dropped& one : split.dropped) ++dropped[one.why];
  for (const auto& [why, count] : dropped) fmt::print("in no part: {} documents: {}\n", count, why);
  fmt::print("leaks between the parts: {}\n", split.leaks.clean() ? "none found" : split.leaks.text());
}

int run_split(const SplitArguments& a, const Session& session) {
  SplitOptions options = a.options;
  options.group_fields = a.group;
  options.hold_out = a.hold_out;
  options.stratify = a.stratify;
  options.fractions = fractions_of(a.fractions);
  options.seed = session.seed;
  if (a.group.empty())
    log_warning(
        "no --group: documents that belong together (of one patient, one author) may be in training and in test");
  Documents documents = read_data(a.data, a.format);
  Split split = split_documents(documents.items, options, a.format, session.run);
  if (session.run.cancelled()) throw Cancelled("split: stopped, nothing was written");
  write_split(a.output, documents, split, options, a.format);
  for (const std::string& warning : split.warnings) log_warning(warning);
  print_parts(documents, split);
  print_facts(split);
  fmt::print("{}\n", (Path(a.output) / manifest_name).string());
  return 0;
}

}  // namespace

Command split_command() {
  return {"split", "Data", "divides documents into training, validation and test so that nothing leaks",
          "attune split --data clinical-example/documents.jsonl --group patient --hold-out template,source --output "
          "split",
          [](Arguments& arguments) -> Action {
            auto a = std::make_shared<SplitArguments>();
            arguments.required("--data", a->data, "file of documents (JSON lines; .csv, .tsv, .txt by their ending)");
            arguments.required("--output", a->output, "directory for the parts and split.json");
            arguments.option("--group", a->group, "fields whose documents stay together, as in patient,family", true);
            arguments.option("--hold-out", a->hold_out,
                             "fields whose values the part \"unfamiliar\" has for itself, as in template,source", true);
            arguments.option("--hold-out-fraction", a->options.hold_out_fraction,
                             "of the documents, that the unfamiliar part aims at", {.above = 0, .below = 1});
            arguments.needs({"--hold-out-fraction"}, "--hold-out");
            arguments.option("--stratify", a->stratify, "field whose values are balanced; else the label");
            arguments.option("--fractions", a->fractions, "of training, validation, test: 0.7,0.1,0.2", true);
            arguments.option("--duplicate-threshold", a->options.duplicates.threshold,
                             "Jaccard index from which two texts count as copies of one another",
                             {.at_most = 1, .above = 0});
            arguments.option("--text-field", a->format.text_field, "the field that holds the text");
            arguments.option("--label-field", a->format.label_field, "the field that holds the label");
            arguments.option("--id-field", a->format.id_field, "the field that holds the id");
            arguments.flag("--skip-bad", a->format.skip_bad, "leave out bad lines, and list them");
            return [a](const Session& session) { return run_split(*a, session); };
          }};
}

}  // namespace attune
