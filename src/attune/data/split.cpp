#include "attune/data/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "attune/base/json.h"
#include "attune/base/usage_error.h"
#include "attune/data/components.h"
#include "attune/data/hold_out.h"
#include "attune/data/stratify.h"

namespace attune {

namespace {

std::string listed(const std::vector<std::string>& fields, const char* between) {
  std::string out;
  for (const std::string& field : fields) out += (out.empty() ? "" : between) + field;
  return out;
}

class Splitter {
 public:
  Splitter(std::span<const Document> documents, const SplitOptions& options, const DocumentFormat& format,
           const Run& run)
      : documents_(documents), options_(options), format_(format), run_(run), components_(count()) {}

  Split run() {
    check_options();
    doing("looking for groups");
    join_groups();
    doing("looking for duplicates");
    join_duplicates();
    component_ = components_.numbers();
    for (std::int64_t number : component_) split_.groups = std::max(split_.groups, number + 1);
    split_.parts.assign(documents_.size(), Part::dropped);
    why_.assign(documents_.size(), "");
    doing("dividing documents");
    if (!options_.hold_out.empty()) separate();
    distribute();
    check_parts();
    doing("looking for leaks");
    for (std::size_t i = 0; i < documents_.size(); ++i)
      if (split_.parts[i] == Part::dropped) split_.dropped.push_back({static_cast<std::int64_t>(i), why_[i]});
    split_.leaks = check_leaks(documents_, split_.parts, options_, format_, run_);
    check(split_.leaks.clean(), "splitting: the parts leak into one another: {}", split_.leaks.text());
    doing("done");
    return std::move(split_);
  }

 private:
  void doing(const char* what) {
    if (run_.cancelled()) throw Cancelled("splitting was stopped: nothing was written");
    run_.report({.doing = "splitting", .done = stage_++, .total = stages, .unit = "stages", .detail = what});
  }

  std::int64_t count() const { return static_cast<std::int64_t>(documents_.size()); }

  void check_options() const {
    check(!documents_.empty(), "splitting: there is no document");
    std::int64_t parts = 0;
    double sum = 0;
    for (double fraction : options_.fractions) {
      check_usage(fraction >= 0 && fraction <= 1, "splitting: a fraction must be between 0 and 1, got {}", fraction);
      sum += fraction;
      parts += fraction > 0;
    }
    check_usage(std::abs(sum - 1) < 1e-6,
                "splitting: the fractions of train, validation and test must add up to 1, not to {}", sum);
    check_usage(options_.fractions[0] > 0, "splitting: the fraction of train must be above 0");
    check(count() >= parts, "splitting: {} documents are too few for {} parts", count(), parts);
    for (const std::string& field : options_.hold_out)
      check_usage(std::ranges::find(options_.group_fields, field) == options_.group_fields.end(),
                  "splitting: {} is both a group and held out: name it once", json_quoted(field));
  }

  void join_groups() {
    for (const std::string& field : options_.group_fields) {
      std::map<std::string_view, std::int64_t> first;
      for (std::int64_t i = 0; i < count(); ++i)
        if (const std::string* value = value_of(documents_[static_cast<std::size_t>(i)], field, format_))
          components_.join(first.try_emplace(*value, i).first->second, i);
      check(!first.empty(), "splitting: no document has the group field {}{}", json_quoted(field), field_hint(field));
    }
    std::int64_t largest = largest_component();
    std::string fields = listed(options_.group_fields, ", ");
    if (options_.group_fields.size() > 1)
      check(2 * largest <= count(),
            "splitting: the groups by {} hang together: one of them spans {} of {} documents, more than half: group by "
            "one field "
            "and hold the others out, as in --group {} --hold-out {}",
            fields, largest, count(), options_.group_fields[0],
            listed({options_.group_fields.begin() + 1, options_.group_fields.end()}, ","));
    else
      check(2 * largest <= count(),
            "splitting: one group by {} spans {} of {} documents, more than half: group by a field with more values, "
            "and use "
            "--hold-out {} to test on values that training has not seen",
            fields.empty() ? "document" : fields, largest, count(), fields.empty() ? "FIELD" : fields);
  }

  std::string field_hint(const std::string& field) const {
    std::vector<std::string> names;
    for (const Document& one : documents_)
      for (const auto& [name, value] : one.fields)
        if (std::ranges::find(names, name) == names.end() && names.size() < 100) names.push_back(name);
    std::string near = nearest_name(field, names);
    return near.empty() ? "" : ": did you mean " + json_quoted(near) + "?";
  }

  void join_duplicates() {
    std::vector<std::string_view> texts;
    for (const Document& one : documents_) texts.push_back(one.text);
    find_duplicates(
        texts, options_.duplicates, [&](std::int64_t a, std::int64_t b) { return !components_.joined(a, b); },
        [&](const DuplicatePair& pair) {
          components_.join(pair.a, pair.b);
          ++split_.duplicate_pairs;
        },
        run_);
    std::int64_t largest = largest_component();
    check(2 * largest <= count(),
          "splitting: near duplicates (Jaccard index {} and more) tie {} of {} documents together, more than half: "
          "they are copies "
          "of one another; raise the threshold, or remove what they have in common",
          options_.duplicates.threshold, largest, count());
  }

  std::int64_t largest_component() {
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < count(); ++i) largest = std::max(largest, components_.size_of(i));
    return largest;
  }

  void separate() {
    HeldOut held = hold_out(documents_, component_, options_, format_, run_);
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      bool side = held.unfamiliar[static_cast<std::size_t>(component_[i])] != 0;
      bool novel = held.novelty[i] == Novelty::novel;
      if (held.novelty[i] == Novelty::mixed)
        why_[i] = "some of its values are held out and some are familiar";
      else if (side && !novel)
        why_[i] = "its group is unfamiliar, but its values are familiar";
      else if (!side && novel)
        why_[i] = "its values are held out, but its group is familiar";
      else if (novel)
        split_.parts[i] = Part::unfamiliar;
    }
    split_.held_out = std::move(held.values);
  }

  /// Deals what is neither unfamiliar nor dropped to train, validation and test.
  void distribute() {
    enum Kind { with_value, without_value, no_category };
    std::map<std::pair<Kind, std::string_view>, std::int32_t> number_of;
    std::string field = options_.stratify.value_or(format_.label_field);
    bool labelled = std::ranges::any_of(documents_, [](const Document& one) { return one.label.has_value(); });
    auto stratum = [&](const Document& one) {
      const std::string* value = field.empty() ? nullptr : value_of(one, field, format_);
      std::pair<Kind, std::string_view> key{without_value, ""};
      if (labelled && !one.label)
        key.first = no_category;
      else if (value)
        key = {with_value, *value};
      return number_of.try_emplace(key, static_cast<std::int32_t>(number_of.size())).first->second;
    };
    Strata strata;
    std::map<std::int64_t, std::size_t> place;  // component -> index into strata.components
    auto waits = [&](std::size_t i) { return split_.parts[i] == Part::dropped && why_[i].empty(); };
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      if (!waits(i)) continue;
      auto [at, fresh] = place.try_emplace(component_[i], strata.components.size());
      if (fresh) strata.components.emplace_back();
      add(strata.components[at->second], stratum(documents_[i]));
    }
    check(!options_.stratify || field.empty() ||
              number_of.lower_bound({with_value, ""}) != number_of.lower_bound({without_value, ""}),
          "splitting: no document has the field {} to stratify by{}", json_quoted(field), field_hint(field));
    if (auto none = number_of.find({no_category, ""}); none != number_of.end()) strata.evaluation_only = none->second;
    strata.strata = static_cast<std::int32_t>(number_of.size());
    std::vector<Part> dealt = deal(strata, options_.fractions, options_.seed);
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      if (!waits(i)) continue;
      Part part = dealt[place[component_[i]]];
      if (part == Part::train && labelled && !documents_[i].label)
        why_[i] = "it has no label, and its group is in training";
      else
        split_.parts[i] = part;
    }
  }

  static void add(std::vector<Strata::Count>& counts, std::int32_t stratum) {
    auto found = std::ranges::find(counts, stratum, &Strata::Count::stratum);
    if (found != counts.end())
      ++found->documents;
    else
      counts.push_back({stratum, 1});
  }

  void check_parts() {
    std::map<std::string_view, std::array<std::int64_t, 3>> labels;
    std::array<std::int64_t, 3> sizes{};
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      auto part = static_cast<std::size_t>(split_.parts[i]);
      if (part >= 3) continue;
      ++sizes[part];
      if (documents_[i].label) ++labels[*documents_[i].label][part];
    }
    for (std::size_t p = 0; p < 3; ++p)
      check(options_.fractions[p] == 0 || sizes[p] > 0,
            "splitting: {} documents in {} groups are too few: {} would be empty", count(), split_.groups,
            name_of(static_cast<Part>(p)));
    for (const auto& [label, counts] : labels)
      for (std::size_t p = 0; p < 3; ++p)
        if (options_.fractions[p] > 0 && counts[p] == 0)
          split_.warnings.push_back(
              fmt::format("{} has no document labelled {}", name_of(static_cast<Part>(p)), json_quoted(label)));
  }

  std::span<const Document> documents_;
  const SplitOptions& options_;
  const DocumentFormat& format_;
  const Run& run_;
  static constexpr std::int64_t stages = 4;
  std::int64_t stage_ = 0;
  Components components_;
  std::vector<std::int64_t> component_;
  std::vector<std::string> why_;  // a document is dropped; empty for the others
  Split split_;
};

}  // namespace

std::vector<std::int64_t> Split::of(Part part) const {
  std::vector<std::int64_t> documents;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] == part) documents.push_back(static_cast<std::int64_t>(i));
  return documents;
}

const std::string* value_of(const Document& document, const std::string& field, const DocumentFormat& format) {
  if (field == format.label_field) return document.label ? &*document.label : nullptr;
  if (field == format.id_field) return document.id.empty() ? nullptr : &document.id;
  auto found = document.fields.find(field);
  return found == document.fields.end() ? nullptr : &found->second;
}

Split split_documents(std::span<const Document> documents, const SplitOptions& options, const DocumentFormat& format,
                      const Run& run) {
  return Splitter(documents, options, format, run).run();
}

}  // namespace attune
