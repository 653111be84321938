#include "attune/workflows/clinical_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/baseline/rules.h"
#include "attune/data/split_files.h"
#include "attune/report/numbers.h"
#include "attune/workflows/clinical_baselines.h"
#include "attune/workflows/clinical_example/clinical_example.h"

namespace attune::workflows {

namespace {

constexpr std::uint64_t bundled_seed = 1;  // the bundled documents are the same in every run

std::size_t values_of(const Documents& documents, const std::string& field, const DocumentFormat& format) {
  std::set<std::string> values;
  for (const Document& document : documents.items)
    if (const std::string* value = value_of(document, field, format)) values.insert(*value);
  return values.size();
}

/// `candidates` that at least two values of are found.
std::vector<std::string> fields_present(const Documents& documents, const std::vector<std::string>& candidates,
                                        const DocumentFormat& format) {
  std::vector<std::string> found;
  for (const std::string& field : candidates)
    if (values_of(documents, field, format) > 1) found.push_back(field);
  return found;
}

Documents read_source(const ClinicalOptions& options) {
  if (options.data) {
    DocumentFormat format = options.format;
    format.labels = Labels::nullable;
    return read_documents(*options.data, format);
  }
  Documents documents;
  documents.items = clinical_documents(bundled_seed);
  documents.source = "the bundled clinical documents";
  return documents;
}

std::string hash_of(const ClinicalOptions& options, const Documents& documents) {
  if (options.data) return sha256_of_file(*options.data);
  std::string lines;
  for (const Document& document : documents.items) lines += to_json_line(document, {.labels = Labels::nullable}) + "\n";
  return sha256(lines);
}

std::vector<std::string> check_labels(const Documents& documents) {
  std::map<std::string, std::int64_t> counts;
  for (const Document& document : documents.items)
    if (document.label) ++counts[*document.label];
  check(!counts.empty(), "{}: no document has a label", documents.source);
  check(counts.size() >= 2, "{}: all labelled documents have the label \"{}\": a classifier needs at least two",
        documents.source, counts.begin()->first);
  std::vector<std::string> labels;
  for (const auto& [label, count] : counts) {
    check(count >= 3, "{}: the label \"{}\" has {}: training, validation and test need one each at the least",
          documents.source, label, report::counted(count, "document"));
    labels.push_back(label);
  }
  return labels;
}

void check_training_labels(const Documents& documents, const Split& split, const std::vector<std::string>& labels) {
  std::set<std::string> trained;
  for (std::int64_t i : split.of(Part::train)) {
    const auto& label = documents.items[static_cast<std::size_t>(i)].label;
    if (label) trained.insert(*label);
  }
  for (const std::string& label : labels)
    check(trained.count(label) > 0,
          "{}: no training document has the label \"{}\": its documents are in too few groups to be divided: add more, "
          "or leave the label out",
          documents.source, label);
}

/// The split, without what is to be held out where that was only guessed and cannot be had.
Split split_or_fall_back(const Documents& documents, SplitOptions& options, const ClinicalOptions& asked,
                         const Run& run) {
  if (asked.held_out_fields || options.hold_out.empty())
    return split_documents(documents.items, options, asked.format, run);
  try {
    return split_documents(documents.items, options, asked.format, run);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    log_warning(std::string("no unfamiliar test: ") + error.what());
  }
  options.hold_out.clear();
  return split_documents(documents.items, options, asked.format, run);
}

Documents part_of(const Path& directory, Part part, const DocumentFormat& format) {
  Path file = directory / file_name_of(part);
  if (part == Part::unfamiliar && !std::filesystem::exists(file)) return {};
  return read_documents(file, format);
}

ClinicalReport::Part counted(const std::string& name, const Documents& documents, const ClinicalData& data) {
  ClinicalReport::Part part{.name = name,
                            .documents = static_cast<std::int64_t>(documents.items.size()),
                            .groups = 0,
                            .uncategorised = 0,
                            .by_label = std::vector<std::int64_t>(data.labels.size())};
  std::set<std::string> groups;
  for (const Document& document : documents.items) {
    groups.insert(data.group_of(document));
    if (!document.label) {
      ++part.uncategorised;
      continue;
    }
    auto found = std::lower_bound(data.labels.begin(), data.labels.end(), *document.label);
    ++part.by_label[static_cast<std::size_t>(found - data.labels.begin())];
  }
  part.groups = static_cast<std::int64_t>(groups.size());
  return part;
}

}  // namespace

Documents ClinicalData::tests() const {
  Documents all = test;
  all.items.insert(all.items.end(), unfamiliar.items.begin(), unfamiliar.items.end());
  return all;
}

std::string ClinicalData::group_of(const Document& document) const {
  if (!group_fields.empty())
    if (auto found = document.fields.find(group_fields[0]); found != document.fields.end()) return found->second;
  // One of no group is a group of its own, even where another has its id.
  return fmt::format("{}\n{}", document.id, document.line);
}

ClinicalData prepare_clinical_data(const ClinicalOptions& options, const Steps& steps, const Run& run) {
  Documents documents = read_source(options);
  ClinicalData data;
  data.synthetic = !options.data;
  data.hash = hash_of(options, documents);
  data.labels = check_labels(documents);
  if (std::optional<Path> rules = rules_file(options)) RuleBaseline::read(*rules, data.labels);
  auto count = static_cast<std::int64_t>(documents.items.size());
  data.name = options.data ? report::counted(count, "document") + " of " + options.data->filename().string()
                           : report::with_thousands(count) + " bundled documents";
  if (!documents.skipped.empty())
    data.warnings.push_back(report::counted(static_cast<std::int64_t>(documents.skipped.size()), "bad line") +
                            " of the data were left out.");
  log_info(fmt::format("documents: {}, {} labels", data.name, data.labels.size()));

  SplitOptions split_options{.fractions = options.fractions, .seed = options.seed};
  split_options.group_fields =
      options.group_fields ? *options.group_fields : fields_present(documents, {"patient"}, options.format);
  split_options.hold_out = options.held_out_fields ? *options.held_out_fields
                                                   : fields_present(documents, {"template", "source"}, options.format);
  const std::vector<std::string> wanted = split_options.hold_out;
  std::string asked = fmt::format("{} / {} / {}", fmt::join(options.fractions, ","),
                                  fmt::join(split_options.group_fields, ","), fmt::join(split_options.hold_out, ","));
  Path directory = options.output / "data";
  DocumentFormat format = options.format;
  Steps::Step step{.name = "split",
                   .fingerprint = fingerprint_of({data.hash, asked, format.text_field, format.label_field,
                                                  format.id_field, std::to_string(options.seed)}),
                   .results = {directory / manifest_name}};
  Split split;
  if (!steps.done(step)) {  // before the step begins, which forgets what an earlier one did
    log_info("split: looking for groups and near duplicates");
    split = split_or_fall_back(documents, split_options, options, run);
    check_training_labels(documents, split, data.labels);
  }
  steps.run(step, [&] { write_split(directory, documents, split, split_options, format); });
  format.skip_bad = false;
  format.labels = Labels::nullable;
  data.train = part_of(directory, Part::train, format);
  data.validation = part_of(directory, Part::validation, format);
  data.test = part_of(directory, Part::test, format);
  data.unfamiliar = part_of(directory, Part::unfamiliar, format);
  Json manifest = read_json(directory / manifest_name);
  data.group_fields = manifest["options"]["group"].get<std::vector<std::string>>();
  data.held_out_fields = manifest["options"]["hold_out"].get<std::vector<std::string>>();
  if (data.held_out_fields.empty() && !wanted.empty())
    data.warnings.push_back(
        fmt::format("There is no unfamiliar test: no values of {} could be held out.", fmt::join(wanted, ", ")));
  for (const auto& warning : manifest["warnings"]) data.warnings.push_back(warning);
  data.manifest = manifest;
  log_info(fmt::format("split: {} training, {} validation, {} familiar and {} unfamiliar test documents",
                       data.train.items.size(), data.validation.items.size(), data.test.items.size(),
                       data.unfamiliar.items.size()));
  return data;
}

void add_data(ClinicalReport& report, const ClinicalData& data, const Path& output) {
  report.data_name = data.name;
  report.synthetic = data.synthetic;
  report.data_hash = data.hash;
  report.labels = data.labels;
  report.group_fields = data.group_fields;
  report.held_out_fields = data.held_out_fields;
  report.split_manifest = (output / "data" / manifest_name).string();
  report.warnings.insert(report.warnings.end(), data.warnings.begin(), data.warnings.end());
  bool divided = !data.unfamiliar.items.empty();
  report.parts = {counted("training", data.train, data), counted("validation", data.validation, data),
                  counted(divided ? "familiar test" : "test", data.test, data)};
  if (divided) report.parts.push_back(counted("unfamiliar test", data.unfamiliar, data));
  const Json& leaks = (*data.manifest)["leaks"];
  auto check_of = [&](const std::string& what, const char* key, const std::string& note) {
    auto found = leaks[key].get<std::int64_t>();
    report.leaks.push_back({what, found, found == 0, note});
  };
  if (!data.group_fields.empty()) check_of("groups (" + data.group_fields[0] + ") in two parts", "groups", "");
  if (divided) check_of("held-out values outside the unfamiliar test", "held_out_values", "");
  check_of("exact duplicates across parts", "exact_duplicates", "");
  check_of("near duplicates across parts (MinHash, Jaccard 0.8)", "near_duplicates",
           fmt::format("{} pairs were kept together", (*data.manifest)["duplicate_pairs_kept_together"].dump()));
  check_of("documents of no category in training", "unlabelled_in_training", "");
  for (const auto& dropped : (*data.manifest)["dropped"])
    report.leaks.push_back({"documents in no part", dropped["documents"], true, dropped["why"].get<std::string>()});
}

}  // namespace attune::workflows
