#include "attune/data/split_files.h"

#include <map>
#include <memory>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"

namespace attune {

namespace {

Json options_of(const SplitOptions& options, const DocumentFormat& format) {
  Json held = Json::object();
  for (const auto& [field, values] : options.held_out_values) held[field] = values;
  return {{"group", options.group_fields},
          {"hold_out", options.hold_out},
          {"hold_out_values", held},
          {"hold_out_fraction", options.hold_out_fraction},
          {"stratify", options.stratify.value_or(format.label_field)},
          {"fractions", options.fractions},
          {"duplicate_threshold", options.duplicates.threshold},
          {"shingle_words", options.duplicates.shingle_words},
          {"seed", options.seed},
          {"text_field", format.text_field},
          {"label_field", format.label_field},
          {"id_field", format.id_field}};
}

Json part_of(const Documents& documents, const std::vector<std::int64_t>& members, const SplitOptions& options,
             const DocumentFormat& format) {
  std::map<std::string, std::int64_t> labels;
  std::int64_t unlabelled = 0;
  std::map<std::string, std::set<std::string>> groups;
  for (std::int64_t i : members) {
    const Document& one = documents.items[static_cast<std::size_t>(i)];
    if (one.label)
      ++labels[*one.label];
    else
      ++unlabelled;
    for (const std::string& field : options.group_fields)
      if (const std::string* value = value_of(one, field, format)) groups[field].insert(*value);
  }
  Json part = {{"documents", members.size()}, {"labels", labels}, {"without_label", unlabelled}};
  part["groups"] = Json::object();
  for (const auto& [field, values] : groups) part["groups"][field] = values.size();
  return part;
}

Json dropped_of(const Documents& documents, const Split& split) {
  std::map<std::string, std::vector<std::string>> ids;
  for (const Dropped& one : split.dropped)
    ids[one.why].push_back(documents.items[static_cast<std::size_t>(one.document)].id);
  Json reasons = Json::array();
  for (const auto& [why, those] : ids) reasons.push_back({{"why", why}, {"documents", those.size()}, {"ids", those}});
  return reasons;
}

Json leaks_of(const LeakReport& leaks) {
  return {{"clean", leaks.clean()},
          {"groups", leaks.groups},
          {"held_out_values", leaks.held_out_values},
          {"exact_duplicates", leaks.exact_duplicates},
          {"near_duplicates", leaks.near_duplicates},
          {"unlabelled_in_training", leaks.unlabelled_in_training}};
}

std::string lines_of(const Documents& documents, const std::vector<std::int64_t>& members,
                     const DocumentFormat& format) {
  std::string lines;
  for (std::int64_t i : members) lines += to_json_line(documents.items[static_cast<std::size_t>(i)], format) + "\n";
  return lines;
}

Json data_of(const Documents& documents) {
  Json data = {
      {"source", documents.source}, {"documents", documents.items.size()}, {"skipped", documents.skipped.size()}};
  std::error_code ignored;
  if (std::filesystem::is_regular_file(documents.source, ignored)) data["sha256"] = sha256_of_file(documents.source);
  return data;
}

void write_files(const Path& directory, const Documents& documents, const Split& split, const SplitOptions& options,
                 const DocumentFormat& format) {
  DocumentFormat written = format;
  for (const Document& one : documents.items)
    if (one.label) written.labels = Labels::nullable;  // documents of no category say so: "label": null

  Json manifest = {{"data", data_of(documents)}, {"options", options_of(options, format)}, {"parts", Json::object()}};
  std::vector<std::unique_ptr<AtomicFile>> files;
  std::vector<Path> stale;
  for (Part part : written_parts) {
    std::vector<std::int64_t> members = split.of(part);
    Path path = directory / file_name_of(part);
    if (members.empty()) {
      stale.push_back(path);
      continue;
    }
    std::string lines = lines_of(documents, members, written);
    Json entry = {{"file", file_name_of(part)}, {"sha256", sha256(lines)}};
    entry.update(part_of(documents, members, options, format));
    manifest["parts"][std::string(name_of(part))] = std::move(entry);
    files.push_back(std::make_unique<AtomicFile>(path));
    files.back()->write(lines);
  }
  manifest["groups"] = split.groups;
  manifest["duplicate_pairs_kept_together"] = split.duplicate_pairs;
  manifest["held_out"] = split.held_out;
  manifest["dropped"] = dropped_of(documents, split);
  manifest["warnings"] = split.warnings;
  manifest["leaks"] = leaks_of(split.leaks);

  AtomicFile last(directory / manifest_name);
  last.write(to_text(manifest, 2) + "\n");
  for (auto& file : files) file->commit();
  for (const Path& path : stale) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  last.commit();
}

}  // namespace

std::string file_name_of(Part part) { return std::string(name_of(part)) + ".jsonl"; }

void write_split(const Path& directory, const Documents& documents, const Split& split, const SplitOptions& options,
                 const DocumentFormat& format) {
  check(split.parts.size() == documents.items.size(), "writing a split: {} documents, but {} parts",
        documents.items.size(), split.parts.size());
  auto fill = [&](const Path& into) { write_files(into, documents, split, options, format); };
  std::error_code ignored;
  if (std::filesystem::exists(directory, ignored))
    fill(directory);
  else
    write_directory_atomically(directory, fill);
}

}  // namespace attune
